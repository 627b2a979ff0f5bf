/** Shows control characters except tabs and line ends as escapes, and a NUL, which some model APIs reject, as a sign. */
export function showControls(text: string): string {
  return text
    .replaceAll('\0', '\u2400')
    .replace(/[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f]|\r(?!\n)/g, escapeControl);
}

function escapeControl(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
