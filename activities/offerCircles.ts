import type { Client } from '@temporalio/client';
import { formatDeploy, listHindrances, listHolding, type WaitingDeploy } from '../domain/offers/circles';
import { listOffering } from '../domain/offers/judge';
import type { PipelineState } from '../domain/pipeline/state';
import { isInRange } from '../sdk/versions';
import type { OfferBoards } from './offerBoards';
import { SharedReads } from './sharedReads';
import { pipelineKnows } from './waitFor';

/** The length of a circle, and the number of deploys that are looked at. */
const [MAX_HOPS, MAX_DEPLOYS] = [64, 1_000];

type Known = Pick<PipelineState, 'spec' | 'retired' | 'ready' | 'active' | 'history'>;

/**
 * Follows who waits for whom. `apply` refuses circles in files, but two files that are applied at the same time may close one, and so may a deploy
 * that waits for users of its offers.
 */
export class OfferCircles {
  private readonly states: SharedReads<Known | null>;

  constructor(
    client: Client,
    private readonly boards: OfferBoards,
  ) {
    this.states = new SharedReads((pipeline) => pipelineKnows<Known>(client, pipeline));
  }

  /** The shortest circle from a deploy back to itself, by name; null if there is none. */
  async find(start: WaitingDeploy): Promise<readonly string[] | null> {
    const home = formatDeploy(start);
    const reached = new Set([home]);
    let level: readonly WaitPath[] = [{ deploy: start, names: [home] }];
    for (let hops = 0; hops < MAX_HOPS && level.length > 0; hops += 1) {
      const next: WaitPath[] = [];
      const held = await Promise.all(level.map(async ({ deploy }) => this.listHolding(deploy)));
      for (const [nth, { names }] of level.entries())
        for (const deploy of held[nth] ?? []) {
          const name = formatDeploy(deploy);
          if (name === home) return [...names, home];
          if (reached.has(name) || reached.size >= MAX_DEPLOYS) continue;
          reached.add(name);
          next.push({ deploy, names: [...names, name] });
        }
      level = next;
    }
    return null;
  }

  /** The deploys that wait and on which this one waits. */
  private async listHolding(deploy: WaitingDeploy): Promise<WaitingDeploy[]> {
    const own = deploy.plan && (await this.boards.find(deploy.pipeline));
    const looked = await this.boards.look(listOffering(deploy.wishes));
    const awaited = listHindrances(deploy, own, looked, isInRange);
    const states = await Promise.all(awaited.map(({ pipeline }) => this.states.get(pipeline)));
    return awaited.flatMap((one, nth) => {
      const state = states[nth];
      return state && !state.retired ? listHolding(state, one) : [];
    });
  }
}

interface WaitPath {
  readonly deploy: WaitingDeploy;
  /** From the first deploy to this one. */
  readonly names: readonly string[];
}
