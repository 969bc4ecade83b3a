import type { Command } from 'commander';
import type { ConveyorClient } from '../../client/api';
import type { Artifact } from '../../domain/artifact';
import { conveyorError } from '../../domain/errors';
import { plural } from '../../domain/text';
import { foldAll, paint } from '../../render/paint';
import { PAUSED_SYMBOL } from '../../render/words';
import { readAttestations } from '../attestations';
import { withClient } from '../door';
import type { Io } from '../io';
import { emit, printNote, type Output } from '../output';
import { findStartWait, startWaitLine } from '../startWait';
import { watchUntilEnd } from '../watch';
import { durationOption, type CommandCall } from './command';

/** Options shared by `release`, `push` and `rerun`: waiting for the release that they start. */
export interface WaitOptions {
  readonly wait?: boolean;
  readonly timeout?: string;
  readonly idempotencyKey?: string;
}

/** The options of the first two, which also take artifacts. */
export interface StartOptions extends WaitOptions {
  readonly artifact: readonly string[];
  readonly attestation: readonly string[];
}

export const startOptions = (command: Command): Command =>
  waitOptions(
    command
      .option(
        '-a, --artifact <name=version[,key=value…]>',
        'repeat for several; keys kind, uri and digest are fields, others metadata',
        collectOption,
        [],
      )
      .option(
        '--attestation <name=file>',
        'the proof of who signed that artifact; repeat for several',
        collectOption,
        [],
      ),
  );

/** The artifacts of the command, each with its attestations in its metadata. */
export function readArtifacts({ artifact, attestation }: StartOptions): readonly Artifact[] {
  const proofs = attestation.map((text) => {
    const at = text.indexOf('=');
    return { name: text.slice(0, Math.max(at, 0)), file: text.slice(at + 1), text };
  });
  const artifacts = artifact.map(parseArtifact);
  const astray = proofs.find(({ name }) => !artifacts.some((one) => one.name === name));
  if (astray)
    throw conveyorError('usage', {
      text: `--attestation ${astray.text}: no --artifact is called ${astray.name || 'nothing'}`,
      hint: 'write it as --artifact executable=kv:12 --attestation executable=kv12.json',
    });
  return artifacts.map((one) => {
    const files = proofs.filter(({ name }) => name === one.name).map(({ file }) => file);
    return { ...one, metadata: { ...one.metadata, ...readAttestations(files) } };
  });
}

export const waitOptions = (command: Command): Command =>
  command
    .option('-w, --wait', 'watch it until it ends')
    .option('--timeout <duration>', 'with --wait: stop watching after this long (exit 5); it continues')
    .option('--idempotency-key <key>', 'repeating a key returns the same release');

/**
 * Starts a release and announces it, or with `--wait` watches it to its end.
 * @param action the action of an emergency, for its approvers
 */
export function startAndWatch(
  { io, output, connect, options }: CommandCall<WaitOptions>,
  begin: (client: ConveyorClient) => Promise<StartedRelease>,
  action?: string,
): Promise<number> {
  const timeoutMs = durationOption('--timeout', options.timeout);
  return withClient(io, connect, async (client) => {
    const started = await begin(client);
    if (!options.wait) return announceRelease(io, output, client, started, action);
    for (const line of [describeStartedRelease(started), ...(started.passedOver ?? [])]) printNote(io, line);
    const wait = await findStartWait(client, started, io.now());
    // The watch shows at once why a release does not start, but only later why its deploy does not.
    if (wait?.by === 'hold' || wait?.by === 'window') printNote(io, startWaitLine(wait, output.view()));
    return watchUntilEnd(io, client, started.id, { output, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  });
}

type StartedRelease = Awaited<ReturnType<ConveyorClient['push']>> & Awaited<ReturnType<ConveyorClient['release']>>;

/**
 * `executable=kv:12,digest=sha256:…,branch=main`. The kind is the name, unless `kind=` gives another. A version may
 * hold `=` and `:`, but no comma.
 */
export function parseArtifact(text: string): Artifact {
  const [head = '', ...rest] = text.split(',');
  const pairs = [head, ...rest].map((part) => {
    const at = part.indexOf('=');
    if (at > 0 && at < part.length - 1) return [part.slice(0, at), part.slice(at + 1)] as const;
    throw conveyorError('usage', {
      text: `--artifact ${text}: ${part || 'nothing'} is not name=value`,
      hint: 'write it as executable=kv:12,branch=main',
    });
  });
  const [[name, version] = ['', ''], ...others] = pairs;
  const { kind = name, digest, uri, ...metadata } = Object.fromEntries(others);
  return {
    name,
    kind,
    version,
    ...(digest === undefined ? {} : { digest }),
    ...(uri === undefined ? {} : { uri }),
    metadata,
  };
}

export const collectOption = (value: string, before: readonly string[]): readonly string[] => [...before, value];

function describeStartedRelease({ id, duplicate, approvals = 0 }: StartedRelease): string {
  if (duplicate) return `${id} was started before by the same request`;
  return approvals > 0 ? `${id} waits for ${plural(approvals, 'approval')} by other owners` : `started ${id}`;
}

/** The next command to type; if other people must approve first, theirs. */
const nextCommand = ({ id, approvals }: StartedRelease, action: string | undefined): string =>
  approvals ? `conveyor pick ${id}/${action ?? ''} --approve --reason "…"` : `conveyor watch ${id}`;

async function announceRelease(
  io: Io,
  output: Output,
  client: ConveyorClient,
  started: StartedRelease,
  action: string | undefined,
): Promise<number> {
  const [webUi, wait] = await Promise.all([releaseWebUi(client, started.id), findStartWait(client, started, io.now())]);
  emit(
    io,
    output,
    { ...started, webUi, ...(wait === null ? {} : { wait }) },
    {
      text: (view, shown) => {
        const colors = paint(view.color);
        const link = shown.webUi === null ? [] : [`${colors.bold('Web UI')}  ${colors.underline(shown.webUi)}`];
        const lines = [
          `${colors.green('✔')} ${describeStartedRelease(shown)}`,
          ...(shown.passedOver ?? []).map((line) => `${colors.yellow('⚠')} ${line}`),
          ...(shown.wait ? [`${colors.yellow(PAUSED_SYMBOL.glyph)} ${startWaitLine(shown.wait, view)}`] : []),
          ...link,
          `${colors.bold('Next')}    ${colors.cyan(nextCommand(shown, action))}`,
        ];
        return foldAll(lines, view).join('\n');
      },
      name: [started.id],
    },
  );
  return 0;
}

/** The release is accepted even if this query fails. */
async function releaseWebUi(client: ConveyorClient, id: string): Promise<string | null> {
  try {
    const status = await client.status(id);
    return status.webUi;
  } catch {
    return null;
  }
}
