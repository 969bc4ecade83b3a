import { identityOf, type Artifact } from '../../../domain/artifact';
import { sequenceOf } from '../../../domain/sequence';
import { first, inRows, unless, type ContradictionIfAny } from './rules';

interface SubscriptionName {
  readonly pipeline: string;
  readonly artifact: string;
}

interface FinderAnswer {
  readonly found: readonly { readonly pipeline: string; readonly artifact: Artifact }[];
  readonly refused: readonly SubscriptionName[];
}

export function contradictionInFound(
  { subscriptions }: { readonly subscriptions: readonly SubscriptionName[] },
  { found, refused }: FinderAnswer,
): ContradictionIfAny {
  const asked = new Set(subscriptions.map(nameSubscription));
  const rows = found.map(({ pipeline, artifact }) => {
    const subscription = nameSubscription({ pipeline, artifact: artifact.name });
    return { id: `${subscription}, ${identityOf(artifact)}`, subscription, artifact };
  });
  const served = new Set(rows.map(({ subscription }) => subscription));
  const inFound = ({ subscription, artifact }: (typeof rows)[number], at: string): ContradictionIfAny =>
    unless(asked.has(subscription), `${at}.artifact`, `${subscription} was not asked for`) ??
    inDigest(`${at}.artifact`, artifact);
  const refusals = refused.map((row) => ({ id: nameSubscription(row) }));
  const inRefused = ({ id }: { readonly id: string }, at: string): ContradictionIfAny =>
    unless(!served.has(id), `${at}.artifact`, `${id} is also in found`);
  return (
    inRows('found', rows, undefined, inFound, 'artifact') ??
    inOrder(rows) ??
    inRows('refused', refusals, [...asked], inRefused, 'artifact')
  );
}

const nameSubscription = ({ pipeline, artifact }: SubscriptionName): string => `${pipeline}, ${artifact}`;

interface FoundRow {
  readonly subscription: string;
  readonly artifact: Artifact;
}

/** Artifacts of one subscription come oldest first: a later one has no lower `sequence`, and none follows itself. */
function inOrder(rows: readonly FoundRow[]): ContradictionIfAny {
  const highest = new Map<string, bigint>();
  return first([...rows.entries()], ([nth, { subscription, artifact }]) => {
    const at = `found.${nth}.artifact.metadata`;
    const [mine, before] = [sequenceOf(artifact), highest.get(subscription)];
    if (mine !== undefined) highest.set(subscription, mine);
    const isHigher = mine === undefined || before === undefined || mine >= before;
    return (
      unless(isHigher, `${at}.sequence`, `${mine} comes after ${before}, but the oldest must come first`) ??
      unless(artifact.metadata['before'] !== artifact.version, `${at}.before`, `${artifact.version} follows itself`)
    );
  });
}

export const contradictionInStart = (
  { runId }: { readonly runId: string },
  answer: { readonly runId: string },
): ContradictionIfAny => unless(answer.runId === runId, 'runId', `${answer.runId} is not the run asked for, ${runId}`);

interface RunAnswer {
  readonly state: string;
  readonly progress?: number | undefined;
  readonly outputs?: readonly Artifact[] | undefined;
}

export function contradictionInRun(_: object, { state, progress = 1, outputs = [] }: RunAnswer): ContradictionIfAny {
  const isWhole = state !== 'succeeded' || progress === 1;
  const rows = outputs.map((output) => ({ ...output, id: output.name }));
  return (
    unless(isWhole, 'progress', `a run that succeeded has progress 1, not ${progress}`) ??
    inRows('outputs', rows, undefined, (output, at) => inDigest(at, output), 'name')
  );
}

/** How many hexadecimal digits a digest of each algorithm has; other algorithms are up to the service. */
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

/** A source that is asked about one task need not name it. The reader drops points outside the window, and sorts the others. */
export const contradictionInSeries = (
  { selector: { tasks } }: { readonly selector: { readonly tasks?: readonly string[] | undefined } },
  { series }: { readonly series: readonly { readonly labels: Readonly<Record<string, string>> }[] },
): ContradictionIfAny =>
  inRows(
    'series',
    series.map(({ labels: { task } }) => ({ id: task })),
    tasks,
    undefined,
    'labels.task',
  );

export const contradictionInApproval = (
  { request }: { readonly request: readonly { readonly id: string }[] },
  { ack }: { readonly ack: readonly string[] },
): ContradictionIfAny =>
  inRows(
    'ack',
    ack.map((id) => ({ id })),
    request.map(({ id }) => id),
    undefined,
    '',
  );

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

export function contradictionInDependents(
  { target: wanted, depth: limit, among }: GraphQuestion,
  { affected }: { readonly affected: readonly AffectedTarget[] },
): ContradictionIfAny {
  const rows = affected.map((row) => ({ ...row, id: nameBuilt(row) }));
  const inRow = ({ target, depth, path }: AffectedTarget, at: string): ContradictionIfAny => {
    const isChain = path[0] === target && path.at(-1) === wanted && path.length === depth + 1;
    return (
      unless(depth <= limit, `${at}.depth`, `${depth} is more than the ${limit} asked for`) ??
      unless(isChain, `${at}.path`, `it does not lead from ${target} to ${wanted} in ${depth} steps`)
    );
  };
  return inRows('affected', rows, among.map(nameBuilt), inRow, 'target');
}

const nameBuilt = ({ target, revision }: BuiltTarget): string => `${target} at ${revision}`;
