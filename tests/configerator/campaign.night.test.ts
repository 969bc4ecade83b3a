import { configChangesFinder } from '../../configerator/finder/finder';
import { Lander } from '../../configerator/repository/land';
import { requestChange } from '../../configerator/repository/requests';
import type { ConfigRepository } from '../../configerator/repository/repository';
import { MemoryStore } from '../../configerator/store/memory';
import { tail } from '../../configerator/tailer/tail';
import { EMPTY_STRIP, nextToLand, enqueueChange, withLanded, type Landing } from '../../configerator/domain/landing';
import { ConveyorError } from '../../domain/errors';
import { Dice } from '../chaos/dice';
import { bench, NOW, type Bench } from './repositories';

/**
 * An hour of twenty authors and a hundred pipelines over one repository. Git, the finder, the strip and the tailer are real; pipelines are lists, and
 * a minute is a turn. Any process that proposes, sweeps, lands or tails may die before an answer or after the work, and is asked again.
 */

const ASKED = process.env['CONVEYOR_CAMPAIGN_SEED'];
const SEED = Number(ASKED ?? 1);
const [AUTHORS, PIPELINES] = [20, 100];
/** As part of the tests only some: each turn starts many processes of git. */
const MINUTES = ASKED === undefined ? 12 : 60;
/** Events of a minute: that an author proposes; that what is asked dies with its answer. */
const [PROPOSES, DIES] = [0.03, 0.25];
const R = 'flags';

class Campaign {
  /** Changes that authors got a number for, with their paths. */
  readonly accepted = new Map<number, string>();
  /** The answer to each, for its author. */
  readonly told = new Map<number, Landing>();
  readonly store = new MemoryStore(() => 0);
  private readonly queues = new Map<string, number[]>();
  private readonly seen = new Set<string>();
  private strip = EMPTY_STRIP;
  private cursor: string | undefined;
  private keys = 0;
  /** The commit that each author last took from the branch. */
  private readonly bases = new Map<string, string | null>();

  constructor(
    private readonly it: Bench,
    private readonly copies: readonly ConfigRepository[],
    private readonly dice: Dice,
    private readonly finder = configChangesFinder({ names: [R], open: () => Promise.resolve(it.repository) }),
  ) {}

  async minute(isCalm: boolean): Promise<void> {
    const dies = (): boolean => !isCalm && this.dice.chance(DIES);
    for (let nth = 0; nth < AUTHORS && !isCalm; nth += 1)
      if (this.dice.chance(PROPOSES)) await this.propose(`user:author-${nth}`, dies);
    await this.sweep(dies());
    for (const queue of this.queues.values()) if (queue[0] !== undefined) this.release(queue[0]);
    await this.land(dies(), dies());
    await this.tail(dies());
  }

  /** A caller without an answer asks once more, with the same key. */
  private async propose(author: string, dies: () => boolean): Promise<void> {
    if (this.dice.chance(0.6)) this.bases.set(author, await this.it.repository.head());
    const base = this.bases.get(author) ?? null;
    // Some paths are shared by all.
    const path = `p${this.dice.chance(0.4) ? this.dice.int(0, 4) : this.dice.int(0, PIPELINES - 1)}/v${this.dice.int(0, 1)}`;
    const key = `key ${(this.keys += 1)}`;
    const request = { values: { [path]: this.keys }, message: `Change ${path}`, base };
    const ask = () => requestChange(this.pick(), request, { author, key, nowMs: NOW });
    try {
      if (dies()) await ask();
      const { change } = await ask();
      expect(this.accepted.has(change)).toBe(false);
      this.accepted.set(change, path);
    } catch (error) {
      // Told at once: a file that others have changed since the base.
      if (!(error instanceof ConveyorError) || error.code !== 'config-conflict') throw error;
    }
  }

  private async sweep(isLost: boolean): Promise<void> {
    const subscriptions = Array.from({ length: PIPELINES }, (_, nth) => ({
      ...{ pipeline: `p${nth}`, artifact: 'change', with: { repository: R, paths: [`p${nth}/`] } },
    }));
    const context = { pipeline: '', release: 0, deployId: 'sweep', actor: 'service:finder', config: {} };
    const body = JSON.stringify({
      context,
      subscriptions,
      ...(this.cursor === undefined ? {} : { cursor: this.cursor }),
    });
    const answer = (await (await this.finder.request('/getArtifacts', { method: 'POST', body })).json()) as {
      readonly found: readonly { readonly pipeline: string; readonly artifact: { readonly version: string } }[];
      readonly cursor: string;
    };
    // A pipeline makes one release of a version; a worker that dies in a sweep has told some of them, and keeps no cursor.
    const told = isLost ? answer.found.slice(0, this.dice.int(0, answer.found.length)) : answer.found;
    for (const { pipeline, artifact } of told) {
      if (this.seen.has(`${pipeline} ${artifact.version}`)) continue;
      this.seen.add(`${pipeline} ${artifact.version}`);
      const queue = this.queues.get(pipeline) ?? [];
      this.queues.set(pipeline, [...queue, Number.parseInt(artifact.version, 10)]);
    }
    if (!isLost) this.cursor = answer.cursor;
  }

  private release(change: number): void {
    this.strip = enqueueChange(this.strip, { change });
  }

  private async land(diesBefore: boolean, diesAfter: boolean): Promise<void> {
    const next = nextToLand(this.strip);
    if (next.length === 0 || diesBefore) return;
    const answers = await new Lander(this.pick()).land(
      next.map(({ change }) => change),
      NOW,
    );
    if (diesAfter) return;
    this.strip = withLanded(this.strip, answers);
    for (const answer of answers) {
      expect(this.told.has(answer.change)).toBe(false);
      this.told.set(answer.change, answer);
      for (const queue of this.queues.values()) if (queue[0] === answer.change) queue.shift();
    }
  }

  /** Two at once, of which one dies at some commit. */
  private async tail(dies: boolean): Promise<void> {
    const left = dies ? this.dice.int(0, 2) : Infinity;
    let applied = 0;
    const mortal = Object.assign(Object.create(this.store) as MemoryStore, {
      apply: (...args: Parameters<MemoryStore['apply']>) =>
        (applied += 1) > left ? Promise.reject(new Error('killed')) : this.store.apply(...args),
    });
    const both = [tail(this.pick(), mortal, 100), tail(this.pick(), dies ? mortal : this.store, 100)];
    const failed = (await Promise.allSettled(both)).find((one) => one.status === 'rejected');
    if (failed?.status === 'rejected' && !String(failed.reason).includes('killed')) throw failed.reason;
  }

  private pick = (): ConfigRepository => this.dice.of(...this.copies);
}

test(`every change that got a number is on the branch once, or its author has the reason: seed ${SEED}`, async () => {
  process.stderr.write(`campaign of configuration: CONVEYOR_CAMPAIGN_SEED=${SEED}\n`);
  const it = await bench();
  const copies = [it.repository, await it.another(), await it.another()];
  const campaign = new Campaign(it, copies, Dice.stream(SEED, 'campaign'));
  for (let minute = 0; minute < MINUTES; minute += 1) await campaign.minute(false);
  for (let minute = 0; minute < 2 * AUTHORS && campaign.told.size < campaign.accepted.size; minute += 1)
    await campaign.minute(true);
  await campaign.minute(true);
  const { accepted, told, store } = campaign;
  expect(accepted.size).toBeGreaterThan(MINUTES / 3);
  expect([...told.keys()].sort((a, b) => a - b)).toEqual([...accepted.keys()].sort((a, b) => a - b));
  const log = it.git('log', '--reverse', '--format=%H %(trailers:key=Change,valueonly,separator=%x2C)', 'main');
  const onBranch = log
    .trim()
    .split('\n')
    .map((row) => row.split(' '));
  const landed = [...told.values()].flatMap((one) => ('commit' in one ? [[one.commit, String(one.change)]] : []));
  expect([...onBranch].sort()).toEqual(landed.sort());
  for (const one of told.values()) if ('refused' in one) expect(one.refused.code).toBe('config-conflict');
  const [head = ''] = onBranch.at(-1) ?? [];
  expect(await store.head(R)).toEqual({ sequence: onBranch.length, commit: head });
  for (const path of new Set(accepted.values()))
    expect((await store.read(R, path))?.value ?? null).toBe(await it.repository.value(path, head));
});
