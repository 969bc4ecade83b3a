interface RecentAnswer<T> {
  readonly content: string;
  readonly answer: Promise<T>;
  readonly atMs: number;
}

/**
 * Answers to recent deliveries, including those in progress: a repeated delivery costs nothing, however often it
 * arrives. Pipelines also remember deliveries, and for longer; this only shields them from a storm.
 */
export class RecentAnswers<T> {
  private readonly answers = new Map<string, RecentAnswer<T>>();

  constructor(
    private readonly limits: { readonly entries: number; readonly ageMs: number },
    private readonly now: () => number,
  ) {}

  /**
   * Runs `work` unless it is running or has run; `keep` tells which answers to remember. @throws the error of `differs`
   * for a known key with different content
   */
  async once(
    { key, content, differs }: { readonly key: string; readonly content: string; readonly differs: () => Error },
    work: () => Promise<T>,
    keep: (answer: T) => boolean,
  ): Promise<{ readonly answer: T; readonly again: boolean }> {
    const known = this.answers.get(key);
    if (known !== undefined && this.now() - known.atMs < this.limits.ageMs) {
      if (known.content !== content) throw differs();
      return { answer: await known.answer, again: true };
    }
    const answer = work();
    this.answers.delete(key);
    this.answers.set(key, { content, answer, atMs: this.now() });
    this.forgetOldest();
    const forget = (): void => {
      if (this.answers.get(key)?.answer === answer) this.answers.delete(key);
    };
    answer.then((it) => keep(it) || forget(), forget);
    return { answer: await answer, again: false };
  }

  get size(): number {
    return this.answers.size;
  }

  private forgetOldest(): void {
    if (this.answers.size <= this.limits.entries) return;
    const [oldest] = this.answers.keys();
    if (oldest !== undefined) this.answers.delete(oldest);
  }
}
