import { existsSync, readFileSync } from 'node:fs';
import { ExtensionError } from '../server';
import { replaceFileSync } from '../replaceFile';

/** The whole memory of a push type, as stored in its file. The running tasks are not in it: they are looked up. */
export interface State {
  readonly units: Record<string, UnitState>;
  /** In the order of their arrival. */
  readonly updates: Record<string, Update>;
  /** Updates that were cancelled before they arrived: they must never begin. */
  readonly cancelled: string[];
  /** The request and the answer under each idempotency key. */
  readonly calls: Record<string, { readonly asked: string; readonly answer: unknown }>;
  /** The highest fence seen, by service. */
  fences?: Record<string, number>;
}

/** The remembered state of one unit: the version of added tasks, and the slots. */
export interface UnitState {
  /** The version on which added tasks start, because of this update. */
  version: string;
  /** The update that set `version`; null if none did. */
  update: string | null;
  /** How often each slot was started; a number is never used again. */
  readonly starts: number[];
  readonly slots: Slot[];
  /** The number of tasks that an update of all tasks brings back, from the moment a removal is accepted until then. */
  removed?: { size: number } | undefined;
}

/** A place for one task. Version and update belong to the slot, and survive each start. */
export interface Slot {
  /** Empty until an update that brings a removed unit back begins here: nothing is to be started before that. */
  version: string;
  /** The update that touched it last. */
  update: string | null;
  /** The number of this start; the task identifier ends with it. */
  start: number;
  state: 'updating' | 'live' | 'down';
  /** ms since the epoch. */
  startedAt: number;
  /** Failed starts in a row. */
  failures: number;
  retryAt: number;
  past: readonly PastStart[];
  /** Its task has left by itself and may come back, or a removal has stopped it. */
  gone?: boolean;
  /** The identifier of its task in metrics, if the fleet gives it one; otherwise `startName` does. */
  task?: string;
  /** Its machine does not answer: nothing is known about its task, and nothing begins there. */
  isUnreachable?: boolean;
}

/** An earlier start of a slot, for comparisons with the time before a deploy. */
export interface PastStart {
  readonly start: number;
  readonly update: string | null;
  readonly from: number;
  readonly to: number;
  /** As of a slot. */
  readonly task?: string;
}

/** An update that was accepted. */
export interface Update {
  /** The updates whose tasks it takes back; empty if it reverts none. */
  readonly updatedBy: readonly string[];
  /** The updates whose tasks it neither takes nor counts. */
  readonly exclude: readonly string[];
  /** It stops the tasks of its units for good, and brings no version. */
  readonly removes?: true;
  /** By the id of the unit. */
  readonly units: Record<string, UnitUpdate>;
}

/** The part of an update in one unit. */
export interface UnitUpdate {
  /** Empty for a removal. */
  readonly version: string;
  /** The indexes of the slots that it brings to `version`, or whose tasks it stops. */
  readonly slots: readonly number[];
  /** Of a removal: how many of its tasks it had stopped when an update brought the unit back. */
  gone?: number;
  /** `ended`: cancelled, or superseded by a later update of the same deploy. */
  state: 'active' | 'paused' | 'done' | 'failed' | 'ended';
  /** Why it is paused, failed or ended. */
  reason?: string;
}

/** A slot in which nothing has been started yet. */
export const newSlot = (version: string, update: string | null = null): Slot => ({
  ...{ version, update, start: 0, state: 'down', startedAt: 0, failures: 0, retryAt: 0, past: [] },
});

/** Keys beyond this number are forgotten, oldest first, and so are updates that are no longer needed. */
const REMEMBERED = 1000;

/** The memory of a push type: a file that is written completely before anything that depends on it is done or answered. */
export class Memory {
  readonly state: State;
  /** Whether the last write failed, so that the disk lacks something. */
  private isDue = false;

  /** Without a file the memory ends with the process. */
  constructor(private readonly file: string | null) {
    this.state =
      file !== null && existsSync(file)
        ? (JSON.parse(readFileSync(file, 'utf8')) as State)
        : { units: {}, updates: {}, cancelled: [], calls: {} };
  }

  save(): void {
    if (this.file === null) return;
    this.isDue = true;
    replaceFileSync(this.file, JSON.stringify(this.state), { mode: 0o644 });
    this.isDue = false;
  }

  /**
   * Has one effect per key: a repetition gets the first answer, the same key with another request is refused (409), and
   * a refused call leaves its key free. `perform` must be synchronous, so that effect and memory are one.
   */
  once<A>(method: string, request: object, key: string, perform: () => A): A {
    const { calls } = this.state;
    const id = `${method} ${key}`;
    const asked = JSON.stringify(request);
    const known = calls[id];
    // Never answers with something that a crash would forget.
    if (known && this.isDue) this.save();
    if (known?.asked === asked) return known.answer as A;
    if (known) throw new ExtensionError('key-reused', `the key ${key} was used for another ${method}`, { status: 409 });
    const answer = perform();
    calls[id] = { asked, answer };
    for (const old of Object.keys(calls).slice(0, -REMEMBERED)) delete calls[old];
    forgetUpdates(this.state);
    this.state.cancelled.splice(0, this.state.cancelled.length - REMEMBERED);
    this.save();
    return answer;
  }
}

/** Keeps, whatever their age, updates that may continue, since their state is asked for, and those that slots name, since a revert needs them. */
function forgetUpdates({ updates, units }: State): void {
  const old = Object.entries(updates).slice(0, -REMEMBERED);
  if (old.length === 0) return;
  const named = new Set(Object.values(units).flatMap(({ update, slots }) => [update, ...slots.map((it) => it.update)]));
  const isOver = ({ state }: UnitUpdate): boolean => state !== 'active' && state !== 'paused';
  for (const [id, update] of old) if (!named.has(id) && Object.values(update.units).every(isOver)) delete updates[id];
}
