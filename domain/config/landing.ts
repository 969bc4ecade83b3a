import { CONFIG_LIMITS } from '../limits';

/** What became of a change of configuration: the commit on the branch, or why it is not to be. */
export type Landing =
  { readonly change: number; readonly commit: string } | { readonly change: number; readonly refused: Refusal };

export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** Who wants a change to land; `ahead`: it takes something back, and what waits has to wait for it. */
export interface LandRequest {
  readonly change: number;
  /** Of the version `N@commit` that was released: whatever else the ref of the change has become does not land. */
  readonly commit?: string;
  readonly ahead?: boolean;
}

/** What a landing strip remembers: who waits, and what became of the newest that do not. */
export interface Strip {
  readonly waiting: readonly LandRequest[];
  readonly landed: readonly Landing[];
}

export const EMPTY_STRIP: Strip = { waiting: [], landed: [] };

/** Why a request cannot be taken; undefined when it can. Whoever is in line already is never refused. */
export function whyNotLand(strip: Strip, request: LandRequest | undefined): string | undefined {
  const change = request?.change;
  if (typeof change !== 'number' || !Number.isSafeInteger(change) || change < 1) return 'a change has a number from 1';
  if (request?.commit !== undefined && !/^[0-9a-f]{40,64}$/.test(request.commit)) return 'a commit has its full name';
  if (isWaiting(strip, change) || strip.waiting.length < CONFIG_LIMITS.landing.max) return undefined;
  return `${strip.waiting.length} changes wait to land, and no more may`;
}

const isWaiting = ({ waiting }: Strip, change: number): boolean => waiting.some((one) => one.change === change);

/** A change in line, once; what takes something back goes before all that does not, also if it waited already. */
export function queued(strip: Strip, { change, commit, ahead = false }: LandRequest): Strip {
  const known = strip.waiting.find((one) => one.change === change);
  if (known !== undefined && (known.ahead === true || !ahead)) return strip;
  const others = strip.waiting.filter((one) => one !== known);
  const at = ahead ? others.filter((one) => one.ahead === true).length : others.length;
  const one = { ...(known ?? { change, ...(commit === undefined ? {} : { commit }) }), ...(ahead ? { ahead } : {}) };
  const waiting = [...others.slice(0, at), one, ...others.slice(at)];
  return { waiting, landed: strip.landed.filter((old) => old.change !== change) };
}

/** Those that land next, together. */
export const nextToLand = ({ waiting }: Strip): readonly LandRequest[] =>
  waiting.slice(0, CONFIG_LIMITS.landingTogether.max);

/** After these have an answer. */
export function withLanded({ waiting, landed }: Strip, answers: readonly Landing[]): Strip {
  const done = new Set(answers.map(({ change }) => change));
  return {
    waiting: waiting.filter(({ change }) => !done.has(change)),
    landed: [...answers.slice().reverse(), ...landed].slice(0, CONFIG_LIMITS.landed.max),
  };
}
