/** The meaning of a method, in words: the facts that its schema cannot express. Markdown. */
export interface MethodWords {
  readonly summary: string;
  /** When, and how often. */
  readonly called: string;
  readonly fields?: string;
  readonly answer?: string;
  /** Answers that fit the schema but are refused. */
  readonly contradictions?: string;
  readonly states?: string;
  /** A repeated call. */
  readonly again?: string;
  /** Its order relative to other calls. */
  readonly order?: string;
  /** Unknown names. */
  readonly unknown?: string;
  /** Calls that succeed only in part. */
  readonly partly?: string;
  readonly how?: string;
}

const LABELS: Readonly<Record<Exclude<keyof MethodWords, 'summary'>, string>> = {
  called: 'Called',
  fields: 'Request',
  answer: 'Answer',
  contradictions: 'Contradictions',
  states: 'States',
  again: 'Again',
  order: 'Beside others',
  unknown: 'Unknown',
  partly: 'Partly',
  how: 'In practice',
};

/** As a list, for `docs/reference/protocols.md` and OpenAPI. */
export function wordsText(words: MethodWords): string {
  const rows = Object.entries(LABELS).flatMap(([field, label]) => {
    const text = words[field as keyof MethodWords];
    return text === undefined ? [] : [`- **${label}**: ${text}`];
  });
  return [words.summary, '', ...rows].join('\n');
}
