import type { z } from 'zod';
import { conveyorError } from '../domain/errors';
import { NAME } from '../domain/ids';
import { SITEVAR_LIMITS } from '../domain/limits';
import { onOneLine } from '../domain/plainText';
import { jsonBytes, sizeAndLimit } from '../domain/size';
import { deviations, type Deviation } from '../configerator/domain/sitevar/deviation';
import { describeShape, inferShape } from '../configerator/domain/sitevar/shape';

/** A store of sitevars: a value under a name, with its history. */
export interface SitevarPort {
  /** All values so far, the oldest first; empty for a new name. */
  history(name: string): Promise<readonly unknown[]>;
  /** Proposes a change, and returns its name. */
  propose(name: string, value: unknown, message: string): Promise<string>;
}

/** Why a value is not allowed: a sentence for each reason. A checker that throws refuses as well. */
export type SitevarChecker = (value: unknown) => readonly string[];

/** Options of `sitevars`: the store of the values, and their checkers. */
export interface SitevarOptions {
  readonly port: SitevarPort;
  /** By the name of the sitevar. */
  readonly checkers?: Readonly<Record<string, SitevarChecker>>;
}

/** The review of a value that is not proposed yet: its deviations from the history, and the objections of its checker. */
export interface SitevarReview {
  /** The past shape, in words: `a text (timestamp)`. Undefined for a new name. */
  readonly was?: string;
  /** The deviations from the past shape. A person may want them. */
  readonly warnings: readonly Deviation[];
  /** The objections of the checker. These cannot be overridden. */
  readonly refused: readonly string[];
}

/** Reviews and proposes values under names (docs/guides/sitevars.md). */
export interface Sitevars {
  /** Proposes nothing. @throws ConveyorError `sitevar-refused` for an invalid name, or a value that is too large or that JSON cannot hold */
  review(name: string, value: unknown): Promise<SitevarReview>;
  /**
   * Proposes the value, and returns the name of the change.
   *
   * @throws ConveyorError `sitevar-refused` for a value that its checker refuses, that is too large or that JSON cannot hold, and for an invalid name; `sitevar-deviates` for one that
   * deviates from its history, unless `anyway`
   */
  propose(name: string, value: unknown, how: { readonly message: string; readonly anyway?: boolean }): Promise<string>;
}

/** Creates the sitevars of a store: each value is compared with its history and checked before it is proposed. */
export function sitevars({ port, checkers = {} }: SitevarOptions): Sitevars {
  const review = async (name: string, value: unknown): Promise<SitevarReview> => {
    const shape = inferShape(await port.history(name));
    const checker = Object.hasOwn(checkers, name) ? checkers[name] : undefined;
    return {
      ...(shape && { was: describeShape(shape) }),
      warnings: shape ? deviations(shape, value) : [],
      refused: checker ? runChecker(checker, value) : [],
    };
  };
  return {
    review: async (name, value) => review(name, acceptSitevar(name, value)),
    propose: async (name, value, { message, anyway = false }) => {
      const proposed = acceptSitevar(name, value);
      const { warnings, refused } = await review(name, proposed);
      if (refused.length > 0) throw conveyorError('sitevar-refused', { name, problems: refused });
      if (warnings.length > 0 && !anyway)
        throw conveyorError('sitevar-deviates', { name, warnings: warnings.map(formatDeviation) });
      return port.propose(name, proposed, message);
    },
  };
}

/** A checker that applies a schema of zod. */
export const checkedBy =
  (schema: z.ZodType): SitevarChecker =>
  (value) => {
    const { error } = schema.safeParse(value);
    return (error?.issues ?? []).map(({ path, message }) =>
      path.length > 0 ? `${path.map(String).join('.')}: ${message}` : message,
    );
  };

/** The value in its JSON form. */
function acceptSitevar(name: string, value: unknown): unknown {
  const refuse = (problem: string): never => {
    throw conveyorError('sitevar-refused', { name: onOneLine(name), problems: [problem] });
  };
  if (!NAME.test(name)) refuse('a name has lower-case letters, digits and -, 63 at most');
  const text = toStrictJson(value);
  if (text === undefined) return refuse('there is no such value in JSON');
  const proposed = JSON.parse(text) as unknown;
  const { max } = SITEVAR_LIMITS.value;
  const bytes = jsonBytes(proposed);
  if (bytes <= max) return proposed;
  const { size, limit } = sizeAndLimit(bytes, max);
  return refuse(`it has ${size}, more than ${limit}`);
}

/** Also undefined if the value contains itself, is too deep, or has a number that JSON would turn into null. */
function toStrictJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_key, it: unknown) => {
      if (typeof it === 'number' && !Number.isFinite(it)) throw new Error('no number of JSON');
      return it;
    });
  } catch {
    return undefined;
  }
}

function runChecker(checker: SitevarChecker, value: unknown): readonly string[] {
  try {
    return checker(value).slice(0, SITEVAR_LIMITS.checks.max).map(onOneLine);
  } catch (error) {
    return [onOneLine(`its checker failed: ${error instanceof Error ? error.message : String(error)}`)];
  }
}

const formatDeviation = ({ path, why }: Deviation): string => onOneLine(path === '' ? `it ${why}` : `${path} ${why}`);
