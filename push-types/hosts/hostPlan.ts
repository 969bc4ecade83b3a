import type { HostFacts } from './hostScript';

/** The steps that bring one host to a version, decided from its facts. Pure. */

/**
 * In this order: `bring` the release, take the host out of the load balancer (`drain`), `switch` the link, `restart` the service, `check` until it is live,
 * and put the host back (`undrain`); `prune` deletes the oldest releases. `record` alone notes the update on a host that serves the version already.
 */
export type HostStep = 'record' | 'bring' | 'drain' | 'switch' | 'restart' | 'check' | 'undrain' | 'prune';

/** The desired state of a host. */
export interface DesiredHost {
  readonly version: string;
  readonly updateId: string | null;
}

/** The steps that are left. A host that was left in the middle, at any step, continues from there. */
export function planHost(facts: HostFacts, desired: DesiredHost, hasRelease: boolean): readonly HostStep[] {
  // A host that an update did not reach serves the version of before: a revert has nothing to restart there.
  const isThere = isServing(facts, desired.version) && (facts.answer !== null || hasRestarted(facts));
  if (isThere && !isSwitched(facts, desired)) return ['record', 'check', 'undrain'];
  const bring: readonly HostStep[] = hasRelease ? [] : ['bring'];
  if (!isSwitched(facts, desired)) return [...bring, 'drain', 'switch', 'restart', 'check', 'undrain', 'prune'];
  if (!hasRestarted(facts) || !isServing(facts, desired.version))
    return [...bring, 'drain', 'restart', 'check', 'undrain', 'prune'];
  return ['check', 'undrain'];
}

/** Whether the host has the version that it should have, whether or not its service works: otherwise it has to change even if no update asks for it. */
export const isSettled = (facts: HostFacts, desired: DesiredHost): boolean =>
  isSwitched(facts, desired) && hasRestarted(facts);

/** Whether the host serves a version: its service is active, and the health URL answers with the version. */
export const isServing = (facts: HostFacts, version: string): boolean =>
  facts.current === version && facts.isActive && (facts.answer === null || answersVersion(facts.answer, version));

/** Why a host does not serve a version. */
export function explainNotServing(facts: HostFacts, version: string): string {
  if (facts.current !== version) return `the host has ${facts.current || 'no release'}`;
  if (!facts.isActive) return `the service is ${facts.service}`;
  const { status, body } = facts.answer ?? { status: 0, body: '' };
  if (status !== 200) return `the health URL answers ${status === 0 ? body.trim().slice(0, 200) || 'nothing' : status}`;
  return `the health URL answers 200 without the version: ${JSON.stringify(body.slice(0, 200))}`;
}

/** 200 with the version as its text, or as the field `version` of its JSON. */
function answersVersion(
  { status, body }: { readonly status: number; readonly body: string },
  version: string,
): boolean {
  if (status !== 200) return false;
  if (body.trim() === version) return true;
  try {
    return (JSON.parse(body) as { version?: unknown } | null)?.version === version;
  } catch {
    return false;
  }
}

/** A host that no update has touched has no stamp. */
const isSwitched = ({ current, stamp }: HostFacts, { version, updateId }: DesiredHost): boolean =>
  current === version &&
  (stamp === null ? updateId === null : stamp.version === version && stamp.updateId === updateId);

/** The service has been started since the link was switched. */
const hasRestarted = ({ before, invocation }: HostFacts): boolean =>
  before === '' || (invocation !== '' && invocation !== before);
