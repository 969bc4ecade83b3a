import type { Hono } from 'hono';
import { CONFIG_LIMITS } from '../../domain/limits';
import { whyCannotFind } from '../../domain/finder/standard';
import { conveyorError, ConveyorError } from '../../domain/errors';
import { serveArtifactFinder, type ServeOptions } from '../../sdk/server';
import type { Subscription } from '../../sdk/protocol/artifactFinder';
import { isOwned } from '../domain/ownership';
import type { ConfigRepository } from '../repository/repository';
import { ChangeIndex, type FoundChange } from './changeIndex';

const FINDER = 'config-changes';

export interface FinderRepositories {
  readonly names: readonly string[];
  open(name: string): Promise<ConfigRepository>;
}

/** The changes of a repository; a text says why they could not be read. */
type LookResult = Awaited<ReturnType<ChangeIndex['look']>> | string;

/**
 * The artifact finder `config-changes` over real repositories: every change to the paths of a subscription that has not
 * landed, oldest first, because no change replaces another. A cursor is the newest change of each repository.
 */
export function configChangesFinder(repositories: FinderRepositories, options: ServeOptions = {}): Hono {
  const { names } = repositories;
  const indices = new Map<string, ChangeIndex>();
  const look = async (name: string): Promise<LookResult> => {
    try {
      const index = indices.get(name) ?? new ChangeIndex(await repositories.open(name));
      indices.set(name, index);
      return await index.look();
    } catch (error) {
      // The other subscriptions of the page are still served.
      return error instanceof ConveyorError ? error.message : String(error);
    }
  };
  const serve = async (subscriptions: readonly Subscription[], text: string | undefined) => {
    const cursor = parseChangeCursor(text);
    const looked = new Map(await Promise.all(names.map(async (name) => [name, await look(name)] as const)));
    const answers = selectWithin(
      CONFIG_LIMITS.changesAnswered.max,
      subscriptions.map((asked) => ({ asked, answer: buildAnswer(asked, names, looked, cursor) })),
    );
    return {
      found: answers.flatMap(({ asked: { pipeline, artifact }, answer }) =>
        typeof answer === 'string' ? [] : answer.map((one) => ({ pipeline, artifact: { name: artifact, ...one } })),
      ),
      refused: answers.flatMap(({ asked: { pipeline, artifact }, answer }) =>
        typeof answer === 'string' ? [{ pipeline, artifact, message: answer }] : [],
      ),
      cursor: nextCursor(cursor, looked),
    };
  };
  // One at a time, because each look extends the index.
  let last: Promise<unknown> = Promise.resolve();
  return serveArtifactFinder(
    FINDER,
    {
      getArtifacts: ({ subscriptions, cursor }) => {
        const next = last.then(() => serve(subscriptions, cursor));
        last = next.catch(() => undefined);
        return next;
      },
    },
    options,
  );
}

interface ChangeAnswer {
  readonly asked: Subscription;
  /** The changes found, oldest first; a text says why they cannot be served. */
  readonly answer: readonly AnsweredArtifact[] | string;
}

/**
 * The limit of one answer. Subscriptions with the fewest changes come first; those that do not fit are requested again
 * on their own.
 */
function selectWithin(most: number, answers: readonly ChangeAnswer[]): readonly ChangeAnswer[] {
  let left = most;
  const sizes = answers.map(({ answer }, index) => ({ index, size: typeof answer === 'string' ? 0 : answer.length }));
  const late = new Set<number>();
  for (const { index, size } of sizes.sort((one, other) => one.size - other.size)) {
    if (size > left) late.add(index);
    else left -= size;
  }
  return answers.map((one, index) => (late.has(index) ? { ...one, answer: LATER } : one));
}

const LATER = 'its changes will be found at the next look: there are too many at once';

type AnsweredArtifact = ReturnType<typeof toChangeArtifact>;

function buildAnswer(
  { with: wanted }: Subscription,
  names: readonly string[],
  looked: ReadonlyMap<string, LookResult>,
  cursor: Cursor,
): ChangeAnswer['answer'] {
  const why = whyCannotFind(FINDER, wanted);
  if (why !== undefined) return why;
  const name = wanted['repository'] ?? (names.length === 1 ? names[0] : undefined);
  if (typeof name !== 'string') return `with names no repository; there are ${names.join(', ')}`;
  const there = looked.get(name);
  if (there === undefined)
    return conveyorError('unknown-extension', { kind: 'repository of configuration', name, known: names }).message;
  if (typeof there === 'string') return there;
  const paths = (wanted['paths'] ?? [wanted['path']]) as readonly string[];
  const after = findPosition(cursor, name, there.newest);
  const own = there.changes.filter((one) => one.paths.some((path) => isOwned(paths, path)));
  // Without a cursor it is unknown which changes were found before. Landed ones were, and all older ones.
  const since = after ?? own.find(({ isLanded }) => isLanded)?.change ?? 0;
  const open = own.filter(({ change, isLanded, takesBack }) => change > since && !isLanded && !takesBack);
  return open.reverse().map((one) => toChangeArtifact(name, one));
}

/** How many paths a message names. */
const SHOWN_PATHS = 5;

function toChangeArtifact(repository: string, { change, version, author, subject, paths }: FoundChange) {
  const more = paths.length > SHOWN_PATHS ? ` and ${paths.length - SHOWN_PATHS} more` : '';
  const shown = `${paths.slice(0, SHOWN_PATHS).join(', ')}${more}`;
  return {
    ...{ kind: 'config', version },
    metadata: { repository, change: String(change), author, message: subject.slice(0, 200), paths: shown },
  };
}

/** Newest changes by repository. */
type Cursor = ReadonlyMap<string, number>;

/** `flags:12,limits:3`; any other form counts as empty. */
const parseChangeCursor = (text: string = ''): Cursor =>
  new Map([...text.matchAll(/([^,:]+):(\d{1,15})(?:,|$)/g)].map(([, name = '', newest]) => [name, Number(newest)]));

/** Undefined if unknown; a cursor with more changes than the repository has belongs to another repository. */
const findPosition = (cursor: Cursor, name: string, newest: number): number | undefined => {
  const after = cursor.get(name);
  return after !== undefined && after <= newest ? after : undefined;
};

/** A repository that did not answer keeps its position. */
const nextCursor = (cursor: Cursor, looked: ReadonlyMap<string, LookResult>): string =>
  [...looked]
    .map(([name, there]) => `${name}:${typeof there === 'string' ? (cursor.get(name) ?? 0) : there.newest}`)
    .join(',');
