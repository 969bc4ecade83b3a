import type { PipelineSource } from '../../domain/spec/pipeline';
import { changeDraft, CHANGE_WEIGHTS, type ChangeKind, type Draft } from '../domain/offers/stories/drafts';
import type { MessageTrouble } from '../workflows/messages';
import { MINUTE } from '../workflows/world';
import { HORIZON_MS, type Dice } from './dice';
import { findWrongCircle } from './offerCircles';
import { toFile } from './offerFiles';
import type { Happening, Member } from './scenario';

/** Most first releases have deployed by then. */
const WARM_MS = 12 * MINUTE;
const SECOND = 1_000;

interface Parts {
  readonly drafts: readonly Draft[];
  readonly members: readonly Member[];
  readonly isTwisted: boolean;
  /** Whether the main deploy of a pipeline takes an offer as an artifact. */
  readonly takes: readonly boolean[];
}

/** How often something happens to a pipeline that offers or wishes. */
const EVENTS = {
  ...{ change: 6, release: 3, 'roll-back': 2, push: 1, cancel: 1, revert: 1, retire: 1, 'end-use': 1 },
  ...{ 'lose offers': 2, 'lose release': 1, messages: 3, race: 4, sweep: 2, bad: 1 },
} as const;
type EventKind = keyof typeof EVENTS;

const CHANGES: Readonly<Partial<Record<ChangeKind, number>>> = {
  ...CHANGE_WEIGHTS,
  ...{ nothing: 0, 'change push type': 0 },
};

const weighted = <K extends string>(dice: Dice, weights: Readonly<Partial<Record<K, number>>>): K =>
  dice.of(...(Object.entries(weights) as [K, number][]).flatMap(([kind, weight]) => Array<K>(weight).fill(kind)));

/** Draws what happens to several pipelines, in the order of time, since each change of a file continues the one before. */
export class Drawing {
  private readonly drafts: Draft[];
  /** The last version of each pipeline. */
  private readonly versions: number[];

  constructor(
    private readonly dice: Dice,
    private readonly parts: Parts,
  ) {
    this.drafts = [...parts.drafts];
    this.versions = parts.drafts.map(() => 1);
  }

  fileOf(nth: number, draft = this.drafts[nth]!, takes = this.parts.takes[nth]!): Member['source'] {
    return toFile(this.parts.members[nth]!, draft, (name) => this.nameOf(name), takes);
  }

  /** The first releases, in any order. */
  begin(main: number): Happening[] {
    return [...this.drafts.keys()]
      .filter((nth) => nth !== main)
      .map((nth) => this.releases(nth, this.dice.time(3 * MINUTE)));
  }

  draw(count: number): Happening[] {
    const time = (): number => Math.round(this.dice.between(WARM_MS, HORIZON_MS));
    const times = Array.from({ length: this.dice.int(3 * count, 6 * count) }, time);
    return times.sort((a, b) => a - b).flatMap((atMs) => this.drawAt(atMs));
  }

  /** The last files, without wishes that cannot be satisfied. */
  lastFiles(): PipelineSource[] {
    return this.drafts.map((draft, mine) => {
      const wishes = draft.wishes.flatMap((wish) => {
        const other = this.drafts.findIndex(({ name }) => name === wish.from);
        const offer = this.drafts[other]?.offers.find(({ name }) => name === wish.offer);
        const may = wish.for.filter((at) => offer && (offer.after < at || (offer.after === at && other < mine)));
        const parts = wish.parts.filter((part) => offer?.parts.includes(part));
        return may.length === 0 ? [] : [{ ...wish, range: null, for: may, parts }];
      });
      const offers = draft.offers.map((offer) => ({ ...offer, to: ['*'] }));
      return this.fileOf(mine, { ...draft, offers, wishes }, false);
    });
  }

  private nameOf(draft: string): string {
    return this.parts.members[this.drafts.findIndex(({ name }) => name === draft)]?.pipeline ?? draft;
  }

  private releases(nth: number, atMs: number, kind: 'release' | 'push' = 'release'): Happening {
    const version = `p${nth}:${(this.versions[nth] = (this.versions[nth] ?? 1) + 1)}`;
    const { pipeline } = this.parts.members[nth]!;
    return kind === 'push' ? { atMs, pipeline, kind, version, skipBake: true } : { atMs, pipeline, kind, version };
  }

  private drawAt(atMs: number): Happening[] {
    const { dice } = this;
    const nth = dice.int(0, this.drafts.length - 1);
    const { pipeline } = this.parts.members[nth]!;
    const by = { actor: 'user:alice', reason: 'chaos' };
    const soon = (): number => Math.min(HORIZON_MS - 1, atMs + dice.int(1, 15) * MINUTE);
    const draws: Readonly<Record<EventKind, () => Happening[]>> = {
      change: () => this.changes(nth, atMs),
      release: () => [this.releases(nth, atMs)],
      push: () => [this.releases(nth, atMs, 'push')],
      'roll-back': () => [{ atMs, pipeline, kind: 'roll-back', notBad: dice.chance(0.5) }],
      cancel: () => [{ atMs, pipeline, kind: 'command', to: 'release', verb: 'cancel', input: by, twice: false }],
      revert: () => [
        this.releases(nth, atMs),
        { atMs: soon(), pipeline, kind: 'command', to: 'deploy', verb: 'revert', input: by, twice: dice.chance(0.3) },
      ],
      retire: () => [
        { atMs, pipeline, kind: 'command', to: 'pipeline', verb: 'retire', input: by, twice: false },
        { atMs: soon(), pipeline, kind: 'apply', source: this.fileOf(nth) },
      ],
      'end-use': () => {
        const user = `${this.parts.members[dice.int(0, this.drafts.length - 1)]!.pipeline}/deploy`;
        const input = { ...by, user };
        return [{ atMs, pipeline, kind: 'command', to: 'pipeline', verb: 'end-use', input, twice: false }];
      },
      'lose offers': () => [{ atMs, pipeline, kind: 'temporal', how: 'terminate', of: 'offers' }],
      'lose release': () => [{ atMs, pipeline, kind: 'temporal', how: 'terminate', of: 'release' }],
      messages: () => [this.trouble(pipeline, atMs), this.releases(nth, atMs + dice.int(1, 60) * SECOND)],
      race: () => this.races(nth, atMs),
      sweep: () => [{ atMs, kind: 'sweep' }],
      bad: () => {
        const release = this.releases(nth, atMs);
        const version = release.kind === 'release' ? release.version : '';
        return [{ atMs, kind: 'version', version, behaviour: { errorRatio: 0.4 } }, release];
      },
    };
    return draws[weighted(dice, EVENTS)]();
  }

  private changes(nth: number, atMs: number): Happening[] {
    const { dice } = this;
    const { isTwisted, members } = this.parts;
    const how = { kind: weighted(dice, CHANGES), at: dice.int(0, 4_095) };
    const draft = changeDraft(this.drafts[nth]!, this.drafts, how, isTwisted);
    const { pipeline } = members[nth]!;
    const source = this.fileOf(nth, draft);
    const together = isTwisted && dice.chance(0.3) ? { together: true as const } : {};
    const apply: Happening = { atMs, pipeline, kind: 'apply', source, ...together };
    // A file that was refused is not the one that people change next.
    const files = new Map(this.drafts.map((_, at) => [members[at]!.pipeline, this.fileOf(at)] as const)).set(
      pipeline,
      source,
    );
    const isTaken = together.together === true || findWrongCircle(files, pipeline, undefined) === undefined;
    if (isTaken) this.drafts[nth] = draft;
    // A release needs a version of each of its artifacts.
    const sweep: Happening[] = this.parts.takes[nth] ? [{ atMs: atMs + MINUTE / 2, kind: 'sweep' }] : [];
    return [apply, ...sweep, ...(dice.chance(0.75) ? [this.releases(nth, atMs + sweep.length * MINUTE)] : [])];
  }

  /** An offer changes while a deploy that has looked at it is about to pin it: messages to it are slow, though not too slow for a deploy that has its turn. */
  private races(nth: number, atMs: number): Happening[] {
    const { dice } = this;
    const wished = this.drafts[nth]?.wishes.map(({ from }) => from) ?? [];
    if (wished.length === 0) return this.changes(nth, atMs);
    const from = dice.of(...wished);
    const other = this.drafts.findIndex(({ name }) => name === from);
    const delayMs = dice.int(4, 8) * SECOND;
    const trouble = { to: `offers/${this.nameOf(from)}`, how: 'late', share: 1, delayMs } as const;
    return [
      { atMs, kind: 'messages', trouble, forMs: 3 * MINUTE },
      this.releases(nth, atMs + SECOND),
      ...this.changes(other, atMs + Math.round(delayMs * dice.between(1.5, 5))),
    ];
  }

  /** It ends before a message is given up, which a release does after ten minutes. */
  private trouble(pipeline: string, atMs: number): Happening {
    const { dice } = this;
    const how = dice.of<MessageTrouble['how']>('late', 'late', 'lost', 'answer-lost', 'twice', 'silent');
    const trouble: MessageTrouble = {
      ...{ to: `offers/${dice.chance(0.7) ? pipeline : ''}`, how },
      ...{ share: dice.of(0.3, 0.6, 1), delayMs: dice.int(1, 20) * SECOND },
    };
    return { atMs, kind: 'messages', trouble, forMs: dice.int(1, 8) * MINUTE };
  }
}
