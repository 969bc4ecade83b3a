import { CONFIG_LIMITS } from '../../domain/limits';

/** The result of landing a change: the commit on the branch, or the reason for a refusal. */
export type Landing =
  { readonly change: number; readonly commit: string } | { readonly change: number; readonly refused: Refusal };

export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** A request to land a change; `ahead`: it undoes something, so it goes before waiting changes. */
export interface LandRequest {
  readonly change: number;
  /** The commit of the released version `N@commit`: nothing else lands, even if the ref of the change has moved. */
  readonly commit?: string;
  readonly ahead?: boolean;
}

/** The state of the landing queue: the waiting changes, and the results of the newest others. */
export interface Strip {
  readonly waiting: readonly LandRequest[];
  readonly landed: readonly Landing[];
}

export const EMPTY_STRIP: Strip = { waiting: [], landed: [] };

/** Why a request is refused; undefined if it is not. A change already in the queue is never refused. */
export function whyNotLand(strip: Strip, request: LandRequest | undefined): string | undefined {
  const change = request?.change;
  if (typeof change !== 'number' || !Number.isSafeInteger(change) || change < 1) return 'a change has a number from 1';
  if (request?.commit !== undefined && !/^[0-9a-f]{40,64}$/.test(request.commit)) return 'a commit has its full name';
  if (isWaiting(strip, change) || strip.waiting.length < CONFIG_LIMITS.landing.max) return undefined;
  return `${strip.waiting.length} changes wait to land, and no more may`;
}

const isWaiting = ({ waiting }: Strip, change: number): boolean => waiting.some((one) => one.change === change);

/** Adds a change to the queue, once; undoing changes go before all others, even if they were already waiting. */
export function enqueueChange(strip: Strip, { change, commit, ahead = false }: LandRequest): Strip {
  const known = strip.waiting.find((one) => one.change === change);
  if (known !== undefined && (known.ahead === true || !ahead)) return strip;
  const others = strip.waiting.filter((one) => one !== known);
  const at = ahead ? others.filter((one) => one.ahead === true).length : others.length;
  const one = { ...(known ?? { change, ...(commit === undefined ? {} : { commit }) }), ...(ahead ? { ahead } : {}) };
  const waiting = [...others.slice(0, at), one, ...others.slice(at)];
  return { waiting, landed: strip.landed.filter((old) => old.change !== change) };
}

/** The changes that land together next. */
export const nextToLand = ({ waiting }: Strip): readonly LandRequest[] =>
  waiting.slice(0, CONFIG_LIMITS.landingTogether.max);

/** The queue after these results. */
export function withLanded({ waiting, landed }: Strip, answers: readonly Landing[]): Strip {
  const done = new Set(answers.map(({ change }) => change));
  return {
    waiting: waiting.filter(({ change }) => !done.has(change)),
    landed: [...answers.slice().reverse(), ...landed].slice(0, CONFIG_LIMITS.landed.max),
  };
}
