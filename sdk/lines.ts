/** The lines of a stream, without the last if it has no newline. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  // A line of several megabytes arrives in many parts, which are joined once.
  let parts: string[] = [];
  for await (const chunk of body) {
    const [first = '', ...lines] = decoder.decode(chunk, { stream: true }).split('\n');
    parts.push(first);
    for (const next of lines) {
      const line = parts.join('');
      parts = [next];
      if (line.trim() !== '') yield line;
    }
  }
}
