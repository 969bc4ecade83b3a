/** The next requests that match get another answer than the true one. */
export interface Fault {
  readonly method?: string;
  /** Compared with the path and its query. */
  readonly path?: RegExp;
  /** How many requests; by default all of them. */
  readonly times?: number;
  readonly then: FaultEffect;
}

export type FaultEffect =
  | { readonly kind: 'slow'; readonly ms: number }
  /** API priority and fairness: the request was not executed. */
  | { readonly kind: 'tooMany'; readonly retryAfter: number }
  | {
      readonly kind: 'broken';
      readonly status: 500 | 502 | 503 | 504;
      readonly body?: string;
      readonly retryAfter?: number;
    }
  /** The connection is cut: before the request is executed, or after it, before its answer. */
  | { readonly kind: 'drop'; readonly when: 'before' | 'after' }
  /** The page of a list, or the version of a watch, is too old. */
  | { readonly kind: 'expired' }
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'unauthorized' }
  /** A validating webhook refuses it. */
  | { readonly kind: 'webhook'; readonly name: string; readonly message: string }
  /** The admission plug-in of quotas refuses it. */
  | { readonly kind: 'quota'; readonly message: string };

/** The fault of each request; one of them at most. */
export class Faults {
  private rules: { readonly fault: Fault; left: number }[] = [];

  /** Returns a function that ends the fault. */
  add(fault: Fault): () => void {
    const rule = { fault, left: fault.times ?? Infinity };
    this.rules.push(rule);
    return () => void (this.rules = this.rules.filter((one) => one !== rule));
  }

  clear(): void {
    this.rules = [];
  }

  take(method: string, path: string): FaultEffect | undefined {
    const rule = this.rules.find(
      ({ fault, left }) =>
        left > 0 && (fault.method === undefined || fault.method === method) && (fault.path?.test(path) ?? true),
    );
    if (rule === undefined) return undefined;
    rule.left -= 1;
    return rule.fault.then;
  }
}
