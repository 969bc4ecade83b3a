import { inspect, isDeepStrictEqual } from 'node:util';
import { Conversation, type Exchange, type Reachable } from './conversation';

/** One obligation of a service: named by its title, tested by `run`. */
export interface ConformCheck<S extends Reachable> {
  /** The rule, as a sentence. */
  readonly title: string;
  /** The method that it is about: a section of docs/reference/protocols.md. */
  readonly method: string;
  /** The remedy for an author whose service breaks it. */
  readonly advice: string;
  readonly run: (subject: S, talk: Conversation) => Promise<void>;
}

/** The outcome of a check, with its conversation. */
export interface CheckOutcome {
  readonly title: string;
  readonly method: string;
  /** The section that states the rule. */
  readonly section: string;
  readonly state: 'passed' | 'failed' | 'skipped' | 'not-run';
  /** For a failure, the expected and the actual answer; else why the check was not tried. */
  readonly reason?: string;
  /** For a failure. */
  readonly advice?: string;
  /** For a skipped check: the feature that the service lacks, or the option that the suite was not given. */
  readonly lacks?: string;
  /** The calls of a failure, oldest first. */
  readonly calls?: readonly Exchange[];
}

/** The service broke a rule: the expected and the actual answer. */
export class BrokenRuleError extends Error {
  override readonly name = 'BrokenRuleError';
}

/** The rule was not tried; `lacks` says what that would need. */
export class SkippedRuleError extends Error {
  override readonly name = 'SkippedRuleError';
  constructor(
    readonly lacks: string,
    message: string,
  ) {
    super(message);
  }
}

/** Tries one check. Whatever the service does, it ends in an outcome. */
export async function tryCheck<S extends Reachable>(
  check: ConformCheck<S>,
  makeSubject: () => Promise<S>,
): Promise<CheckOutcome> {
  const about = { title: check.title, method: check.method, section: formatDocsSection(check.method) };
  let talk: Conversation | undefined;
  try {
    const subject = await makeSubject();
    talk = new Conversation(subject);
    await check.run(subject, talk);
    return { ...about, state: 'passed' };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof SkippedRuleError) return { ...about, state: 'skipped', reason, lacks: error.lacks };
    return { ...about, state: 'failed', reason, advice: check.advice, calls: talk?.calls ?? [] };
  }
}

/** The section of the documents that describes a method. */
export const formatDocsSection = (method: string): string => `docs/reference/protocols.md#${method.toLowerCase()}`;

export function demand(holds: boolean, otherwise: string): void {
  if (!holds) throw new BrokenRuleError(otherwise);
}

/** @throws BrokenRuleError, naming both values */
export function demandEqual(got: unknown, expected: unknown, of: string): void {
  if (!isDeepStrictEqual(got, expected))
    throw new BrokenRuleError(`${of} is ${inspectValue(got)}, expected ${inspectValue(expected)}`);
}

/** Demands the named fields to have these values. @throws BrokenRuleError, naming the fields that differ */
export function demandFields(got: object | undefined, expected: Readonly<Record<string, unknown>>, of: string): void {
  if (got === undefined) throw new BrokenRuleError(`${of} is not there, expected ${inspectValue(expected)}`);
  const fields = got as Readonly<Record<string, unknown>>;
  const wrong = Object.entries(expected).filter(([name, value]) => !isDeepStrictEqual(fields[name], value));
  const words = wrong.map(
    ([name, value]) => `${of}.${name} is ${inspectValue(fields[name])}, expected ${inspectValue(value)}`,
  );
  if (words.length > 0) throw new BrokenRuleError(words.join('; '));
}

/** Demands a refusal that is final: 4xx other than 408 and 429, or `retryable: false`. */
export async function demandRefusal(call: Promise<unknown>, of: string): Promise<Error> {
  const error = await call.then(
    (answer) =>
      new BrokenRuleError(
        `${of} was answered with ${inspectValue(answer)}, expected a refusal (4xx, "retryable": false)`,
      ),
    (failure: Error) => failure,
  );
  if ((error as { code?: unknown }).code === 'extension-rejected') return error;
  throw error instanceof BrokenRuleError
    ? error
    : new BrokenRuleError(`${of}: expected a refusal (4xx, "retryable": false), got: ${error.message}`);
}

/** On one line, as people write JSON. */
export const inspectValue = (value: unknown): string =>
  inspect(value, { breakLength: Infinity, depth: 6, maxArrayLength: 20, maxStringLength: 300 });
