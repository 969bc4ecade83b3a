import { setTimeout as delay } from 'node:timers/promises';
import { GIT_COMMIT_LIMITS } from '../../sdk';
import type { Memory } from '../../sdk/updates';
import { RefusedError, type DeployBranch, type FoundCommit } from './branch';
import { getDefinition, landSlot, listBySlot } from './commitState';
import { abandonStep, beginStep, listSteps, noteReason, type FieldStep, type StepWorld } from './fieldSteps';
import { writeField } from './fileField';
import { explainChange } from './foreignChange';
import { mentionsCluster, nameUpdate, writeMessage } from './message';
import { readOrExplain, type FieldReader, type FieldReading } from './readings';

/** Brings changes into Git: each update by one commit for all of its clusters that change together. */

export interface LandingWorld extends StepWorld {
  readonly memory: Memory;
  readonly branch: DeployBranch;
  readonly reader: FieldReader;
  /** Called between the steps of a change. */
  readonly onStep?: ((step: LandingStep) => void) | undefined;
}

export type LandingStep = 'begun' | 'made' | 'pushed' | 'landed';

/** @returns the newest commit of the branch. @throws AwayError: the next round looks for changes that have begun */
export async function landChanges(place: LandingWorld, units: readonly string[], tip: string): Promise<string> {
  let base = tip;
  for (let nth = 1; ; nth += 1) {
    const result = await landOnce(place, units, base);
    if (result !== 'stale') return result;
    if (nth >= GIT_COMMIT_LIMITS.pushes.max) break;
    await delay(50 * nth * (1 + Math.random()));
    base = await place.branch.refresh();
  }
  for (const step of listSteps(place, units))
    noteReason(
      place.state,
      step.unit,
      step.updateId,
      `others push all the time: ${GIT_COMMIT_LIMITS.pushes.max} pushes were too late; the next round tries again`,
    );
  return base;
}

/** Ends all changes that are not in Git, such as after the key was revoked. */
export function giveUpChanges(place: LandingWorld, units: readonly string[], reason: string): void {
  for (const step of listSteps(place, units)) abandonStep(place, step, reason);
}

async function landOnce(place: LandingWorld, units: readonly string[], tip: string): Promise<string> {
  const texts = new Map<string, string>();
  const groups = new Map<string, FieldStep[]>();
  for (const step of listSteps(place, units)) groups.set(step.updateId, [...(groups.get(step.updateId) ?? []), step]);
  let base = tip;
  for (const [updateId, steps] of groups) {
    const result = await landUpdate(place, { updateId, steps, base, texts }).catch((error: unknown) => {
      if (!(error instanceof RefusedError)) throw error;
      for (const step of steps) abandonStep(place, step, error.message);
      texts.clear();
      return base;
    });
    if (result === 'stale') return 'stale';
    base = result;
  }
  return base;
}

interface UpdateLanding {
  readonly updateId: string;
  readonly steps: readonly FieldStep[];
  readonly base: string;
  /** The files as the commits of this round leave them. */
  readonly texts: Map<string, string>;
}

async function landUpdate(place: LandingWorld, landing: UpdateLanding): Promise<string> {
  const { state, memory, branch, now, onStep } = place;
  const { updateId, steps, base, texts } = landing;
  const own = await branch.findCommits(base, nameUpdate(updateId));
  await loadTexts(place, landing);
  const writes: (FieldStep & { readonly from: string })[] = [];
  for (const step of steps) {
    const found = await decideStep(place, step, own, landing);
    if (found.kind === 'refused') {
      abandonStep(place, step, found.reason);
      continue;
    }
    beginStep(place, step);
    if (found.kind === 'write') writes.push({ ...step, from: found.from });
    else
      landSlot(state, step.unit, step.index, step.value, {
        update: updateId,
        at: now(),
        ...(found.commit && { commit: found.commit }),
      });
  }
  memory.save();
  if (writes.length === 0) return base;
  onStep?.('begun');
  const files = new Map<string, string>();
  for (const { path, unit, value } of writes)
    files.set(path, writeField(files.get(path) ?? texts.get(path) ?? '', getDefinition(state, unit).field, value));
  const message = writeMessage(
    {
      ...{ updateId, version: writes[0]?.version ?? '', origin: state.origins?.[updateId] },
      updatedBy: state.updates[updateId]?.updatedBy ?? [],
    },
    writes.map(({ unit, cluster, path, from, value }) => ({ unit, cluster, path, from, to: value })),
  );
  const commit = await branch.commit({ base, files, message, at: now() });
  onStep?.('made');
  if ((await branch.push(commit)) === 'stale') return 'stale';
  onStep?.('pushed');
  for (const { unit, index, value } of writes)
    landSlot(state, unit, index, value, { update: updateId, commit, at: now() });
  for (const [path, text] of files) texts.set(path, text);
  memory.save();
  onStep?.('landed');
  place.log(`${updateId}: ${writes.length} fields are changed by ${commit}`);
  return commit;
}

type StepDecision =
  | { readonly kind: 'write'; readonly from: string }
  | { readonly kind: 'there'; readonly commit?: string | undefined }
  | { readonly kind: 'refused'; readonly reason: string };

/** Compares a field with what it should have been: a value that another has written is never replaced. */
async function decideStep(
  place: LandingWorld,
  step: FieldStep,
  own: readonly FoundCommit[],
  { base, texts }: UpdateLanding,
): Promise<StepDecision> {
  const { field } = getDefinition(place.state, step.unit);
  const text = texts.get(step.path);
  const reading: FieldReading =
    text === undefined
      ? { trouble: `${step.path} is not in the branch any more` }
      : readOrExplain(text, step.path, field);
  if ('trouble' in reading) return { kind: 'refused', reason: reading.trouble };
  const commit = own.find(({ message }) => mentionsCluster(message, step.unit, step.cluster))?.id;
  if (reading.value === step.value) return { kind: 'there', commit };
  const held = listBySlot(place.state, 'held', step.unit)[step.index];
  if (commit === undefined && reading.value === held) return { kind: 'write', from: reading.value };
  const who = await explainChange(place, {
    ...step,
    tip: base,
    expected: commit === undefined ? (held ?? '') : step.value,
  });
  return { kind: 'refused', reason: who };
}

async function loadTexts({ branch }: LandingWorld, { steps, base, texts }: UpdateLanding): Promise<void> {
  const missing = [...new Set(steps.map(({ path }) => path))].filter((path) => !texts.has(path));
  if (missing.length === 0) return;
  for (const [path, file] of await branch.read(base, missing)) if ('text' in file) texts.set(path, file.text);
}
