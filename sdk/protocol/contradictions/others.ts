import { formatIdentity, type Artifact } from '../../../domain/artifact';
import { parseSequence } from '../../../domain/sequence';
import { inEach, strangerIn, twiceIn, unless, type ContradictionIfAny, type AnyRules, type Rules } from './rules';

interface SubscriptionName {
  readonly pipeline: string;
  readonly artifact: string;
}

interface FinderAnswer {
  readonly found: readonly { readonly pipeline: string; readonly artifact: Artifact }[];
  readonly refused: readonly SubscriptionName[];
}

interface FinderQuestion {
  readonly subscriptions: readonly SubscriptionName[];
}

export const FOUND_RULES: AnyRules = {
  'a row twice': (_, { found }) => twiceIn('found', toFoundRows(found), 'artifact'),
  'what was not asked for': ({ subscriptions }, { found }) =>
    strangerIn('found', toSubscriptionRows(found), subscriptions.map(nameSubscription), 'artifact'),
  'a digest that is none': (_, { found }) =>
    inEach('found', found, ({ artifact }, at) => inDigest(`${at}.artifact`, artifact)),
  'an order that goes back': (_, { found }) => inOrder(toFoundRows(found)),
  'a version that follows itself': (_, { found }) =>
    inEach('found', found, ({ artifact: { metadata, version } }, at) =>
      unless(metadata['before'] !== version, `${at}.artifact.metadata.before`, `${version} follows itself`),
    ),
  'a refusal twice': (_, { refused }) => twiceIn('refused', refusals(refused), 'artifact'),
  'a refusal of what was not asked for': ({ subscriptions }, { refused }) =>
    strangerIn('refused', refusals(refused), subscriptions.map(nameSubscription), 'artifact'),
  'what is found and refused': (_, { found, refused }) => {
    const names = new Set(toSubscriptionRows(found).map(({ id }) => id));
    return inEach('refused', refusals(refused), ({ id }, at) =>
      unless(!names.has(id), `${at}.artifact`, `${id} is also in found`),
    );
  },
} satisfies Rules<FinderQuestion, FinderAnswer>;

const toFoundRows = (found: FinderAnswer['found']) =>
  found.map(({ pipeline, artifact }) => {
    const subscription = nameSubscription({ pipeline, artifact: artifact.name });
    return { id: `${subscription}, ${formatIdentity(artifact)}`, subscription, artifact };
  });

const toSubscriptionRows = (found: FinderAnswer['found']) =>
  found.map(({ pipeline, artifact }) => ({ id: nameSubscription({ pipeline, artifact: artifact.name }) }));

const refusals = (refused: FinderAnswer['refused']) => refused.map((row) => ({ id: nameSubscription(row) }));

const nameSubscription = ({ pipeline, artifact }: SubscriptionName): string => `${pipeline}, ${artifact}`;

interface FoundRow {
  readonly subscription: string;
  readonly artifact: Artifact;
}

/** Artifacts of one subscription come oldest first: a later one never has a lower `sequence`. */
function inOrder(rows: readonly FoundRow[]): ContradictionIfAny {
  const highest = new Map<string, bigint>();
  return inEach('found', rows, ({ subscription, artifact }, at) => {
    const [mine, before] = [parseSequence(artifact), highest.get(subscription)];
    if (mine !== undefined) highest.set(subscription, mine);
    const isHigher = mine === undefined || before === undefined || mine >= before;
    const detail = `${mine} comes after ${before}, but the oldest must come first`;
    return unless(isHigher, `${at}.artifact.metadata.sequence`, detail);
  });
}

export const START_RULES: AnyRules = {
  'another run': ({ runId }, answer) =>
    unless(answer.runId === runId, 'runId', `${answer.runId} is not the run asked for, ${runId}`),
} satisfies Rules<{ readonly runId: string }, { readonly runId: string }>;

interface RunAnswer {
  readonly state: string;
  readonly progress?: number | undefined;
  readonly outputs?: readonly Artifact[] | undefined;
}

export const RUN_RULES: AnyRules = {
  'a success half-way': (_, { state, progress = 1 }) =>
    unless(state !== 'succeeded' || progress === 1, 'progress', `a run that succeeded has progress 1, not ${progress}`),
  'an output twice': (_, { outputs = [] }) =>
    twiceIn(
      'outputs',
      outputs.map(({ name }) => ({ id: name })),
      'name',
    ),
  'a digest that is none': (_, { outputs = [] }) => inEach('outputs', outputs, (output, at) => inDigest(at, output)),
} satisfies Rules<object, RunAnswer>;

/** The number of hexadecimal digits in a digest of each algorithm; the service decides about other algorithms. */
const HEX_DIGITS: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };

function inDigest(at: string, { digest = '' }: Artifact): ContradictionIfAny {
  const [algorithm = '', hex = ''] = digest.split(/:(.*)/s);
  const digits = Object.hasOwn(HEX_DIGITS, algorithm) ? HEX_DIGITS[algorithm] : undefined;
  const isDigest = digits === undefined || (hex.length === digits && /^[0-9a-f]+$/i.test(hex));
  return unless(
    isDigest,
    `${at}.digest`,
    `${digest} is not a ${algorithm} digest: ${digits} hexadecimal digits must follow ${algorithm}:`,
  );
}

interface SeriesAnswer {
  readonly series: readonly { readonly labels: Readonly<Record<string, string>> }[];
}

/** A source that is asked about one task need not name it. The reader drops points outside the window, and sorts the others. */
export const SERIES_RULES: AnyRules = {
  'a task twice': (_, answer) => twiceIn('series', seriesRows(answer), 'labels.task'),
  'a task that was not asked for': ({ selector: { tasks } }, answer) =>
    strangerIn('series', seriesRows(answer), tasks, 'labels.task'),
} satisfies Rules<{ readonly selector: { readonly tasks?: readonly string[] | undefined } }, SeriesAnswer>;

const seriesRows = ({ series }: SeriesAnswer) => series.map(({ labels: { task } }) => ({ id: task }));

export const APPROVAL_RULES: AnyRules = {
  'an id twice': (_, { ack }) => twiceIn('ack', ack.map(asRow), ''),
  'an id that was not asked for': ({ request }, { ack }) =>
    strangerIn(
      'ack',
      ack.map(asRow),
      request.map(({ id }) => id),
      '',
    ),
} satisfies Rules<{ readonly request: readonly { readonly id: string }[] }, { readonly ack: readonly string[] }>;

const asRow = (id: string): { id: string } => ({ id });

interface BuiltTarget {
  readonly target: string;
  readonly revision: string;
}

interface AffectedTarget extends BuiltTarget {
  readonly depth: number;
  readonly path: readonly string[];
}

interface GraphQuestion {
  readonly target: string;
  readonly depth: number;
  readonly among: readonly BuiltTarget[];
}

export const DEPENDENTS_RULES: AnyRules = {
  'a row twice': (_, { affected }) => twiceIn('affected', affected.map(toBuiltRow), 'target'),
  'a row that was not asked for': ({ among }, { affected }) =>
    strangerIn(
      'affected',
      affected.map(toBuiltRow),
      among.map((built) => toBuiltRow(built).id),
      'target',
    ),
  'what is too deep': ({ depth: limit }, { affected }) =>
    inEach('affected', affected, ({ depth }, at) =>
      unless(depth <= limit, `${at}.depth`, `${depth} is more than the ${limit} asked for`),
    ),
  'a path that is no chain': ({ target: wanted }, { affected }) =>
    inEach('affected', affected, ({ target, depth, path }, at) => {
      const isChain = path[0] === target && path.at(-1) === wanted && path.length === depth + 1;
      return unless(
        isChain,
        `${at}.path`,
        `it does not lead from ${target} to ${wanted} in ${depth} steps: ${path.join(' > ')}`,
      );
    }),
} satisfies Rules<GraphQuestion, { readonly affected: readonly AffectedTarget[] }>;

const toBuiltRow = ({ target, revision }: BuiltTarget): { id: string } => ({ id: `${target} at ${revision}` });
