/** The effects of the log and files of a step: ports of the parsers of the runner, from its documented behaviour. */

export interface RunnerCommand {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly data: string;
}

const NAMES =
  'internal-set-repo-path set-env set-output save-state add-path add-mask add-matcher remove-matcher warning error notice debug group endgroup echo stop-commands';
/** The characters that .NET trims: Unicode spaces, separators and control characters that count as spaces. */
const LEADING_SPACE = /^[\s\u0085\u180e]+/u;
/** Characters that a culture-sensitive comparison ignores. Removed first, to find everything that an ordinal one finds. */
const IGNORABLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]|[^\P{Cc}\s\u0085]/gu;

/** The commands in a log, without stop-commands and its end. */
export function parseLog(text: string): RunnerCommand[] {
  const registered = new Set(NAMES.split(' '));
  const commands: RunnerCommand[] = [];
  let resume: string | null = null;
  for (const raw of text.split(/\r\n|\r|\n/)) {
    const line = raw.replace(IGNORABLE, '');
    const command = [modern(line), legacy(line)].find((each) =>
      registered.has(each?.name.toLowerCase() ?? ''),
    );
    if (command === undefined || command === null) continue;
    const [name, token] = [command.name.toLowerCase(), command.data.toLowerCase()];
    // Another token fails the step, and commands are not stopped.
    const isToken = token !== '' && token !== 'pause-logging' && !registered.has(token);
    if (resume !== null) {
      if (name !== resume) continue;
      registered.delete(resume);
      resume = null;
    } else if (name === 'stop-commands' && isToken) {
      resume = token;
      registered.add(resume);
    } else commands.push(command);
  }
  return commands;
}

/** The log without stop-commands. */
export function withoutStopCommands(text: string): string {
  return text.replace(/^::stop-commands::(.*)\n([\s\S]*?)^::\1::\n/gm, '$2');
}

/** `::name key=value,key=value::data` at the start of a line. */
function modern(line: string): RunnerCommand | null {
  const message = line.replace(LEADING_SPACE, '');
  const end = message.indexOf('::', 2);
  if (!message.startsWith('::') || end < 0) return null;
  const data = unescapeAll(message.slice(end + 2), ['\r', '\n']);
  return build(message.slice(2, end), ',', ['\r', '\n', ':', ','], data);
}

/** `##[name key=value;key=value]data` anywhere in a line; only the first `##[` counts. */
function legacy(line: string): RunnerCommand | null {
  const start = line.indexOf('##[');
  const end = line.indexOf(']', start);
  if (start < 0 || end < 0) return null;
  const escaped = [';', '\r', '\n', ']'];
  const data = unescapeAll(line.slice(end + 1), escaped);
  return build(line.slice(start + 3, end), ';', escaped, data);
}

function build(info: string, separator: string, escaped: readonly string[], data: string): RunnerCommand {
  const [, name = '', pairs = ''] = /^([^ ]*) ?(.*)$/su.exec(info) ?? [];
  const properties: Record<string, string> = {};
  for (const pair of pairs.trim().split(separator)) {
    const [, key, value] = /^([^=]+)=(.+)$/su.exec(pair) ?? [];
    if (key !== undefined && value !== undefined) properties[key] = unescapeAll(value, escaped);
  }
  return { name, properties, data };
}

function unescapeAll(value: string, characters: readonly string[]): string {
  let text = value;
  for (const character of [...characters, '%']) {
    const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
    text = text.replaceAll(`%${code}`, character);
  }
  return text;
}

/**
 * The outputs that the runner reads from the file GITHUB_OUTPUT. Names are compared ignoring case, and the last one
 * wins.
 * @throws Error if the runner fails the step.
 */
export function parseOutputFile(text: string, windows = false): Map<string, string> {
  const content = text.replace(/^\ufeff/u, '');
  const lines = [...content.matchAll(windows ? /([^\n]*?)(\r?\n|$)/gu : /([^\n]*)(\n|$)/gu)];
  const outputs = new Map<string, readonly [name: string, value: string]>();
  const set = (name: string, value: string) => {
    if (name === '') throw new Error('an output without a name');
    outputs.set(name.toLowerCase(), [name, value]);
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]?.[1] ?? '';
    if (line === '') continue;
    const equals = line.indexOf('=');
    const heredoc = line.indexOf('<<');
    if (equals >= 0 && (heredoc < 0 || equals < heredoc)) {
      set(line.slice(0, equals), line.slice(equals + 1));
      continue;
    }
    if (heredoc < 0) throw new Error(`neither = nor << in ${JSON.stringify(line)}`);
    const delimiter = line.slice(heredoc + 2);
    if (delimiter === '') throw new Error('an empty delimiter');
    const end = lines.findIndex(([, each], index) => index > at && each === delimiter);
    if (end < 0) throw new Error(`no end for ${delimiter}`);
    const value = lines
      .slice(at + 1, end)
      .map(([whole, each], index) => (index === end - at - 2 ? each : whole));
    set(line.slice(0, heredoc), value.join(''));
    at = end;
  }
  return new Map(outputs.values());
}
