import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import { areFewIds, type HeldUnits } from '../domain/deploy/heldUnits';
import { selectUnits, type Selection, type Snapshot, type SnapshotUnit } from '../domain/deploy/snapshot';
import { versionBefore } from '../domain/deploy/versionBefore';
import { workflowIds } from '../domain/ids';
import { sha256 } from '../sdk/digest';
import { isGone, readInput } from './readInput';

/** Stores the units of deploys with too many for their workflow: each page is the input of a workflow of its own (docs/adr/0018). */
export interface SnapshotStore {
  /** The same units have the same place, even if they are written again. */
  write(deployId: string, units: readonly SnapshotUnit[]): Promise<Snapshot>;
  read(snapshot: Snapshot): Promise<readonly SnapshotUnit[]>;
}

/** A workflow itself carries up to about a hundred units. In bytes of JSON, as for a page. */
const INLINE_BYTES = 16_384;
const PAGE_BYTES = 262_144;
/** Pages that a worker keeps in memory; they never change. */
const KEPT_PAGES = 256;

export function createSnapshotStore({ client, taskQueue }: { client: Client; taskQueue: string }): SnapshotStore {
  const kept = new Map<string, Promise<readonly SnapshotUnit[]>>();
  const page = (id: string): Promise<readonly SnapshotUnit[]> => {
    const found = kept.get(id) ?? readPage(client, id);
    kept.delete(id);
    kept.set(id, found);
    found.catch(() => kept.delete(id));
    for (const oldest of kept.keys()) if (kept.size > KEPT_PAGES) kept.delete(oldest);
    return found;
  };
  return {
    write: async (deployId, units) => {
      const text = JSON.stringify(units);
      const isCarried = Buffer.byteLength(text) <= INLINE_BYTES;
      if (isCarried && areFewIds(units.map(({ id }) => id))) return { units };
      const at = workflowIds.snapshot(deployId, sha256(text).slice(0, 16));
      const pages = pagesThatFit(units);
      for (const [nth, units_] of pages.entries())
        await startPage(client, taskQueue, `${at}/${nth}`, { deployId, units: units_ });
      const copy = { at, pages: pages.length };
      return isCarried ? { units, copy } : copy;
    },
    read: async (snapshot) => {
      if ('units' in snapshot) return snapshot.units;
      const { at, pages } = snapshot;
      return (await Promise.all(Array.from({ length: pages }, (_, nth) => page(`${at}/${nth}`)))).flat();
    },
  };
}

/** The units of a selection. */
export async function unitsIn(
  store: SnapshotStore,
  { snapshot, parts, only, back }: Selection,
): Promise<SnapshotUnit[]> {
  const units = selectUnits(await withJoined(store, snapshot, back?.now), parts);
  const isMeant = (unit: SnapshotUnit): boolean =>
    (only?.includes(unit.id) ?? true) && (back === undefined || versionBefore(unit, back.rules) !== null);
  return units.filter(isMeant);
}

/** The earlier units, together with those that have joined since. */
export async function withJoined(store: SnapshotStore, then: Snapshot, now?: Snapshot): Promise<SnapshotUnit[]> {
  const joined = now === undefined ? [] : (await store.read(now)).filter((unit) => unit.joined);
  return [...(await store.read(then)), ...joined];
}

/** Ids of the units that a deploy held; only a part if its snapshot is gone, and empty if none are known. */
export async function readHeld(store: SnapshotStore, held: HeldUnits | undefined): Promise<readonly string[]> {
  if (held === undefined) return [];
  if ('ids' in held) return held.ids;
  const units = await orGone(store.read(held));
  return units.length > 0 ? units.map(({ id }) => id) : (held.some ?? []);
}

/** The units that another deploy kept; empty if its snapshot is gone. */
export const orGone = (reading: Promise<readonly SnapshotUnit[]>): Promise<readonly SnapshotUnit[]> =>
  reading.catch((error: unknown) => {
    if (isGone(error)) return [];
    throw error;
  });

/** The input of a page's workflow. */
export interface SnapshotPage {
  readonly deployId: string;
  readonly units: readonly SnapshotUnit[];
}

function pagesThatFit(units: readonly SnapshotUnit[]): SnapshotUnit[][] {
  const pages: SnapshotUnit[][] = [];
  let room = 0;
  for (const unit of units) {
    const bytes = Buffer.byteLength(JSON.stringify(unit)) + 1;
    if (bytes > room) {
      pages.push([]);
      room = PAGE_BYTES;
    }
    pages.at(-1)?.push(unit);
    room -= bytes;
  }
  return pages;
}

async function startPage(client: Client, taskQueue: string, workflowId: string, page: SnapshotPage): Promise<void> {
  try {
    await client.workflow.start('snapshot', {
      workflowId,
      taskQueue,
      args: [page],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      staticSummary: `units of ${page.deployId}, ${page.units.length} of them`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** Reads from the history, which needs no worker. */
async function readPage(client: Client, workflowId: string): Promise<readonly SnapshotUnit[]> {
  const page = await readInput(client, workflowId);
  // A stranger took the id, with a page of another deploy.
  if (page === undefined) throw new Error(`${workflowId} is no snapshot of this deploy`);
  return (page as SnapshotPage).units;
}
