import type { Selection } from '../domain/deploy/snapshot';
import { canariesOn } from '../domain/mutex';
import { runCancellable } from './cancellation';
import {
  callIfOffered,
  keyOfRun,
  otherCanaries,
  sendEach,
  type DeployCall,
  type Invoke,
  type PushPorts,
} from './pushCalls';
import { unitsIn } from './snapshots';

interface RemovalRequest {
  /** `<deploy>/remove/<try>`. */
  readonly updateId: string;
  readonly selection: Selection;
}

/** The result of sending a removal. `canaries`: those in the way, because of which nothing was sent. */
export type SentRemoval =
  | { readonly kind: 'sent'; /** The number of units. */ readonly count: number }
  | { readonly kind: 'canaries'; readonly canaries: readonly string[] }
  | { readonly kind: 'unsupported' };

/** Removes units with all of their tasks; `followUpdates` and the commands for updates follow a removal, too. */
export function createRemovalActivities(ports: PushPorts, invoke: Invoke) {
  return {
    /** Without units it changes nothing, and finds out whether the push type can remove any. */
    removeUnits: (call: DeployCall, request: RemovalRequest): Promise<SentRemoval> =>
      runCancellable(() => sendRemoval(ports, invoke, call, request)),
  };
}

async function sendRemoval(
  ports: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  { updateId, selection }: RemovalRequest,
): Promise<SentRemoval> {
  const ids = (await unitsIn(ports.snapshots, selection)).map(({ id }) => id);
  const inTheWay = ids.length === 0 ? [] : canariesOn(await otherCanaries(ports, call), ids);
  if (inTheWay.length > 0) return { kind: 'canaries', canaries: inTheWay.map(({ requester }) => requester) };
  const isOffered = await callIfOffered(async () => {
    if (ids.length === 0) await invoke(call, 'removeUnits', { updateId, units: [] }, keyOfRun(`${updateId}/ask`));
    await sendEach(call, ids, String, ({ items, key }) =>
      invoke(call, 'removeUnits', { updateId, units: [...items] }, key(`${updateId}/execute`)),
    );
  });
  return isOffered ? { kind: 'sent', count: ids.length } : { kind: 'unsupported' };
}
