/** Shows a raw log as the runner's web page would: commands become what they mean, all else stays as it is. */

/** Turns one raw line after another into what a person sees; null for a line that is not shown. */
export function createConsole(): (line: string) => string | null {
  let stopped: string | null = null;
  return (line) => {
    const command = /^::([a-z-]+)(?: ([^:]*))?::(.*)$/u.exec(line.trimStart());
    if (stopped !== null) {
      if (line.trim() === `::${stopped}::`) {
        stopped = null;
        return null;
      }
      return line;
    }
    if (command === null) return line;
    const [, name = '', , text = ''] = command;
    switch (name) {
      case 'stop-commands':
        stopped = text;
        return null;
      case 'add-mask':
      case 'endgroup':
        return null;
      case 'group':
        return `▼ ${decode(text)}`;
      case 'error':
      case 'warning':
      case 'notice':
        return `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${decode(text)}`;
      default:
        return line;
    }
  };
}

/** The runner's escapes of a command's text. */
function decode(text: string): string {
  return text.replaceAll('%0A', '\n').replaceAll('%0D', '\r').replaceAll('%25', '%');
}
