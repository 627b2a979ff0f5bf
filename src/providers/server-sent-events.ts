/** Server-sent events, as far as models' APIs use them: the text of each event's data. */

/** Any of the three line ends that the format knows. */
const LINE_END = /\r\n|\r|\n/;

/**
 * The data of each event of a stream, in order, by the rules of the HTML standard: comments, names, ids and empty events
 * are left out. An event that no blank line ends is handed on too: whoever reads it finds out whether it is whole.
 * Linear in the bytes, however they are cut. Rejects with what reading the body rejects with.
 */
export async function* eventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  const lines = createLines();
  let data: string[] = [];
  for await (const chunk of body) {
    for (const line of lines.add(decoder.decode(chunk, { stream: true }))) {
      if (line !== '') addLine(data, line);
      else if (data.length > 0) {
        yield data.join('\n');
        data = [];
      }
    }
  }
  addLine(data, lines.rest() + decoder.decode());
  if (data.length > 0) yield data.join('\n');
}

function addLine(data: string[], line: string): void {
  if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
}

/** Cuts text that comes in pieces into lines; a line that grows over many pieces is joined once. */
function createLines() {
  let pieces: string[] = [];
  let endedInReturn = false;
  return {
    /** The lines that a piece completes. */
    add(piece: string): readonly string[] {
      // A carriage return ended a line already: the line feed behind it belongs to that end.
      const text = endedInReturn && piece.startsWith('\n') ? piece.slice(1) : piece;
      if (piece !== '') endedInReturn = piece.endsWith('\r');
      const [first = '', ...others] = text.split(LINE_END);
      pieces.push(first);
      const last = others.pop();
      if (last === undefined) return [];
      const line = pieces.join('');
      pieces = [last];
      return [line, ...others];
    },
    /** What no line end came for. */
    rest: () => pieces.join(''),
  };
}
