import { locateRecord, runCommand, type CommandEnd } from './commands';
import type { AgentHome } from './home';
import type { PackageRelease } from './state';

/** A release as its commands see it. */
export type PackagePlace = Pick<PackageRelease, 'version' | 'folder' | 'install'>;

interface PackageCommand {
  readonly name: string;
  readonly release: PackagePlace;
  /** Undefined if the package has no such command. */
  readonly argv: readonly string[] | undefined;
  readonly timeoutMs?: number | undefined;
}

export const COMMAND_SECOND_MS = 1_000;

/** Runs a command of a package in the folder of its release. */
export async function runPackageCommand(
  { home, env }: { readonly home: AgentHome; readonly env: Readonly<Record<string, string>> },
  { name, release, argv, timeoutMs }: PackageCommand,
): Promise<CommandEnd> {
  if (argv === undefined) return { isGood: true };
  const { version, folder, install } = release;
  return runCommand(argv, {
    ...{ cwd: home.release(name, folder), record: locateRecord(home.folder) },
    timeoutMs: timeoutMs ?? (install?.timeoutSeconds ?? 1) * COMMAND_SECOND_MS,
    env: { ...env, CONVEYOR_PACKAGE: name, CONVEYOR_VERSION: version },
  });
}
