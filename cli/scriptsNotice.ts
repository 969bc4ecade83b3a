import { ConveyorError } from '../domain/errors';
import { listScriptActions } from '../domain/spec/scriptActions';
import { loadRegistry } from '../settings/registry';
import type { Io } from './io';
import { printNote } from './output';
import type { PipelineFile } from './pipelineFile';

/** Names the actions that would fail if workers had this machine's configuration. Without one nothing is known. */
export function noteScriptsOff(io: Io, files: readonly PipelineFile[]): void {
  const found = files.flatMap(({ file, spec }) =>
    spec === null ? [] : listScriptActions(spec).map((name) => ({ file, name })),
  );
  const config = found.length === 0 ? undefined : configWithoutScripts(io);
  if (config === undefined) return;
  for (const { file, name } of found)
    printNote(
      io,
      `warning: ${file}: ${name} runs a script, and ${config} allows none: scripts: { enabled: true } would`,
    );
}

function configWithoutScripts({ env }: Io): string | undefined {
  try {
    const { file, scripts } = loadRegistry(undefined, env);
    return scripts.enabled ? undefined : file;
  } catch (error) {
    // `doctor` and the commands that need the file report its errors.
    if (error instanceof ConveyorError) return undefined;
    throw error;
  }
}
