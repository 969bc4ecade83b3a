/** A bounded cache of reproducible texts, by key. When it is full, all are dropped. */
export class TextCache {
  private readonly texts = new Map<string, string>();
  private length = 0;

  /** @param maxChars of all keys and texts together */
  constructor(private readonly maxChars: number) {}

  get(key: string): string | undefined {
    return this.texts.get(key);
  }

  set(key: string, text: string): void {
    const known = this.texts.get(key);
    const size = key.length + text.length;
    const length = this.length + size - (known === undefined ? 0 : key.length + known.length);
    if (length > this.maxChars) this.texts.clear();
    this.length = length > this.maxChars ? size : length;
    this.texts.set(key, text);
  }
}
