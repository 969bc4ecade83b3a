/** The lines of a stream, without the last if nothing ends it. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  // A line of megabytes comes in many parts, which are put together once.
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
