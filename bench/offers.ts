import { join } from 'node:path';
import { DEFAULT_SETTINGS } from '../domain/settings';
import { measureBoard } from './offers/board';
import { measureIdle } from './offers/idle';
import { printLines } from './offers/lines';
import { measureServices } from './offers/services';
import { measureSingle } from './offers/single';
import { measureUsers } from './offers/users';
import { onStack, type Bench } from './services';
import { run } from './stack';

/**
 * `npx jiti bench/offers.ts [part] [arguments]`: deploys that wait for offers of other pipelines, against the same deploys without wishes. Each part
 * has its own development stack; without a part, all of them run in small sizes.
 *
 * - `services [services,services…] [rounds] [bake]`: services that depend on each other, in real time
 * - `single [rounds] [bake]`: the cost of one satisfied wish, in real time
 * - `users [users,users…] [waiting]`: many users of one offer, and deploys that wait for another version of it
 * - `board [users,users…]`: the size of the state of offers with many users, and the processor time of messages to it; without a stack
 * - `idle [pipelines]`: deploys that wait while nothing happens
 * - `lines [folder]`: the lines of pipeline files that are offers and wishes
 */
const PARTS: Readonly<Record<string, (...args: readonly string[]) => Promise<void>>> = {
  services: (sizes = '3', rounds = '1', bake = '5s') =>
    onBench(REAL_TIME, (bench) => measureServices(bench, parseNumbers(sizes), Number(rounds), bake)),
  single: (rounds = '3', bake = '5s') => onBench(REAL_TIME, (bench) => measureSingle(bench, Number(rounds), bake)),
  users: (counts = '100', waiting = '20') =>
    onBench(FAST, (bench) => measureUsers(bench, parseNumbers(counts), Number(waiting))),
  board: async (counts = '2000,10000') => measureBoard(parseNumbers(counts)),
  idle: (pipelines = '10') => onBench(FAST, (bench) => measureIdle(bench, Number(pipelines))),
  lines: async (folder = join(__dirname, '../examples/teastore')) => printLines(folder),
};

/** Speeds of the simulated world: tasks start as slowly as they say, or nearly at once. */
const [REAL_TIME, FAST] = [1, 240];

const onBench = (speed: number, work: (bench: Bench) => Promise<void>) => onStack(speed, DEFAULT_SETTINGS, work);

const parseNumbers = (text: string): number[] => text.split(',').map(Number);

async function main(): Promise<void> {
  const [part, ...args] = process.argv.slice(2);
  if (part === undefined) {
    for (const measure of Object.values(PARTS)) await measure();
    return;
  }
  const measure = PARTS[part];
  if (measure === undefined) throw new Error(`no part ${part}; there are ${Object.keys(PARTS).join(', ')}`);
  await measure(...args);
}

run(main);
