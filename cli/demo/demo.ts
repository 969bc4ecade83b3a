import type { ConveyorClient } from '../../client/api';
import { takeSnapshot } from '../../client/snapshot';
import { conveyorError } from '../../domain/errors';
import type { Artifact } from '../../domain/artifact';
import type { DeployStatus, ReleaseStatus } from '../../domain/views';
import type { View } from '../../render/paint';
import { resolveActor } from '../door';
import type { Io } from '../io';
import { printNoteLines, type Output } from '../output';
import { requirePipelineFile } from '../pipelineFile';
import type { Child } from '../stack/child';
import type { Stack, StackSettings } from '../stack/stack';
import { watchUntilEnd } from '../watch';

/** The minimum that a demo prints with `-o json`. */
export interface DemoResult {
  readonly releases: readonly ReleaseStatus[];
  readonly deploys: readonly DeployStatus[];
}

/** A story of `conveyor demo`: its needs, its course, and its promises. */
export interface Demo<R extends DemoResult> {
  /** Prepares additional parts of the stack, and the environment of its processes. */
  prepare(io: Io, settings: StackSettings): Promise<DemoPreparation>;
  /** Undefined if it was interrupted. */
  play(stage: Stage): Promise<R | undefined>;
  /** The first deviation from the promised story; null if there is none. */
  surprise(result: R): string | null;
  render(result: R, view: View): string;
  /** The commands to try while everything is left running. */
  next(result: R): readonly string[];
}

export interface DemoPreparation extends Pick<StackSettings, 'config'> {
  readonly env?: Readonly<Record<string, string>>;
}

export interface Stage {
  readonly io: Io;
  readonly output: Output;
  readonly client: ConveyorClient;
  readonly stack: Stack;
  /** Additional processes of the story; they end with the stack. */
  readonly children: Child[];
  readonly stop: AbortSignal;
}

/** Far more than a release of a demo takes. */
const STORY_TIMEOUT_MS = 180_000;

export function chapter(io: Io, text: string): void {
  printNoteLines(io, `\n${text}\n`);
}

/** Applies the pipeline of a file and makes the current user one of its owners. @returns its name */
export async function applyFor({ io, client }: Stage, file: string): Promise<string> {
  const { spec } = await requirePipelineFile(file, io.now());
  const actor = resolveActor(io);
  const owners = spec.owners.includes(actor) ? spec.owners : [...spec.owners, actor];
  await client.apply({ ...spec, owners }, actor);
  return spec.pipeline;
}

/** Releases an artifact and shows its progress live. Undefined if interrupted. */
export async function ship(
  { io, output, client, stop }: Stage,
  pipeline: string,
  artifact: Artifact,
): Promise<{ readonly release: ReleaseStatus; readonly deploys: readonly DeployStatus[] } | undefined> {
  const trigger = { kind: 'manual', actor: resolveActor(io), key: `demo-${artifact.version}` } as const;
  const { id } = await client.release(pipeline, [artifact], trigger);
  // With -o json the pictures go to stderr, so that stdout has only the result.
  const live = output.human ? io : { ...io, stdout: io.stderr };
  const shown: Output = { ...output, format: 'table', human: true };
  const watching = { output: shown, timeoutMs: STORY_TIMEOUT_MS, everyMs: 300, detachedText: '' };
  const code = await watchUntilEnd(live, client, id, watching);
  if (stop.aborted || code === 130) return undefined;
  const { release, deploys } = await takeSnapshot(client, id, null);
  if (release === null) throw conveyorError('unknown-release', { id });
  return { release, deploys };
}
