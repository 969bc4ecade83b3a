import { resolve } from 'node:path';
import { Option } from 'commander';
import { plural } from '../../domain/text';
import { makeBackup } from '../backup/backup';
import { formatFileSize } from '../backup/files';
import type { BackupManifest } from '../backup/manifest';
import { backupPlaces, type PlaceOptions } from '../backup/places';
import { LEAVABLE_PARTS, restoreCommand, type LeavablePart } from '../backup/placement';
import { placesText, restoreBackup, type RestoredMachine } from '../backup/restore';
import { versionsHere } from '../backup/versions';
import { EXIT } from '../exit';
import { emit, printNote } from '../output';
import { usualAddresses } from '../stack/addresses';
import { asWord } from '../typedCommand';
import { examples, type CommandCall, type GlobalOptions, type Register } from './command';

type BackupCall = CommandCall<PlaceOptions & GlobalOptions>;

interface RestoreCommandOptions extends PlaceOptions {
  readonly without?: readonly LeavablePart[];
}

const DB_HELP = 'the database of Temporal (default: CONVEYOR_TEMPORAL_DB, else .conveyor/temporal.db of this checkout)';
const STATE_HELP =
  'the file of conveyor config-service --state (default: .conveyor/config/service.json of this checkout)';

/** Backs up one machine, and restores it (docs/guides/operate.md#backups). */
export const backupCommands: Register = (program, cli) => {
  program
    .command('backup <dir>')
    .description('copy all data of Conveyor and Temporal on this machine into a new folder, while everything runs')
    .option('--db <file>', DB_HELP)
    .option('--state <file>', STATE_HELP)
    .addHelpText('after', examples('conveyor backup /mnt/backup/monday', 'conveyor backup ./before-the-upgrade'))
    .action(cli.handle<PlaceOptions, [string]>(backupMachine));
  program
    .command('restore <dir>')
    .description('restore a backup; refused while anything runs, or if data already exists')
    .option('--db <file>', DB_HELP)
    .option('--state <file>', STATE_HELP)
    .addOption(
      new Option('--without <part...>', 'leave these parts in the backup, such as an archive that has moved').choices(
        LEAVABLE_PARTS,
      ),
    )
    .addHelpText(
      'after',
      examples('conveyor restore /mnt/backup/monday', 'conveyor restore /mnt/backup/monday --without archive audit'),
    )
    .action(cli.handle<RestoreCommandOptions, [string]>(restoreMachine));
};

async function backupMachine({ io, output, options, connect }: BackupCall, dir: string): Promise<number> {
  const stop = io.interrupted();
  const folder = resolve(dir);
  const places = backupPlaces(io.env, options);
  const { temporal } = usualAddresses(io.env, connect);
  printNote(io, `Copying to ${folder}`);
  const versions = await versionsHere(io.env);
  const manifest = await makeBackup(io, { folder, places, temporal, versions }, stop);
  if (manifest === undefined) return EXIT.interrupted;
  emit(io, output, { folder, ...manifest }, { text: (_, shown) => backupText(shown), name: [folder] });
  return EXIT.ok;
}

function backupText({
  folder,
  files,
  named = {},
  leftOut,
}: Omit<BackupManifest, 'format'> & { readonly folder: string }): string {
  const size = formatFileSize(files.reduce((sum, { bytes }) => sum + bytes, 0));
  return [
    `${folder} is complete: ${plural(files.length, 'file')}, ${size}`,
    ...notInIt(leftOut),
    '',
    `${restoreCommand(folder, named)} puts it back.`,
  ].join('\n');
}

async function restoreMachine(
  { io, output, options, connect }: CommandCall<RestoreCommandOptions & GlobalOptions>,
  dir: string,
): Promise<number> {
  const folder = resolve(dir);
  const places = backupPlaces(io.env, options);
  const versions = await versionsHere(io.env);
  const addresses = usualAddresses(io.env, connect);
  const { without = [] } = options;
  const at = { env: io.env, nowMs: io.now() };
  const restored = await restoreBackup({ folder, places, addresses, versions, without, ...at });
  emit(io, output, restored, { text: (_, shown) => describeRestored(shown, places.audit), name: [folder] });
  return EXIT.ok;
}

function describeRestored(restored: RestoredMachine, audit: string | null): string {
  const { at, host, kept, leftOut } = restored;
  return [
    `Restored as of ${at}, from ${host}`,
    ...placesText(restored).map((line) => `  ${line}`),
    ...(kept.length === 0 ? [] : ['Left as it is:', ...kept.map((line) => `  ${line}`)]),
    ...notInIt(leftOut),
    '',
    'Conveyor knows nothing of later events, and would assign the numbers of later releases a second time.',
    'Next, before anything runs as usual: docs/guides/operate.md#after-a-restore',
    ...(audit === null ? [] : [`Changes since then: conveyor audit --file ${asWord(audit)} --since ${at}`]),
  ].join('\n');
}

const notInIt = (leftOut: readonly string[]): readonly string[] => ['Not in it:', ...leftOut.map((one) => `  ${one}`)];
