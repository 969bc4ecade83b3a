import { connectTemporal, translate } from '../../client/connection';
import { resolveTaskQueue } from '../../client/apply';
import { temporalEndings } from '../../client/endings';
import { conveyorError, type ConveyorError } from '../../domain/errors';
import { plural } from '../../domain/text';
import type { Env } from '../../settings/env';
import { openArchive, type OpenArchive } from '../../archive/open';
import type { ArchiveSettings } from '../../settings/archive';
import { loadRegistry, type Registry } from '../../settings/registry';
import { EXIT } from '../exit';
import { emit } from '../output';
import { examples, type CommandCall, type Register } from './command';

export const archiveCommand: Register = (program, cli) => {
  const group = program
    .command('archive')
    .description('results of releases and deploys, kept for statistics')
    .helpCommand(false);
  group
    .command('rebuild')
    .description('read again everything that Temporal still has, and replace it in the archive; the rest stays')
    .addHelpText('after', examples('conveyor archive rebuild'))
    .action(cli.handle(rebuild));
};

async function rebuild({ io, output, connect }: CommandCall<object>): Promise<number> {
  const registry = loadRegistry(undefined, io.env);
  const { archive, place } = await openArchive(requireArchive(registry), io.env);
  const { collect } = await import('../../archive/collect');
  const temporal = await connectTemporal({ ...connect, seal: registry.seal });
  try {
    const endings = temporalEndings(temporal, resolveTaskQueue({ ...connect }));
    const { unanswered, unread } = await collect(archive, endings, io.now(), { again: true }).catch(
      (error: unknown) => {
        throw toTemporalError(error, temporal.address);
      },
    );
    // The count includes rows whose runs Temporal no longer keeps.
    const rows = await archive.size();
    emit(io, output, { place, rows, unanswered, unread }, { text: (_, shown) => formatRebuild(shown), name: [place] });
    return EXIT.ok;
  } finally {
    await temporal.connection.close();
  }
}

interface RebuildResult {
  readonly place: string;
  readonly rows: number;
  readonly unanswered: readonly string[];
  readonly unread: readonly string[];
}

function formatRebuild({ place, rows, unanswered, unread }: RebuildResult): string {
  const [poor, lost] = [plural(unanswered.length, 'run'), plural(unread.length, 'run')];
  return [
    `${plural(rows, 'row')} in ${place}`,
    ...(unanswered.length === 0 ? [] : [`the workers know only the end of ${poor}`]),
    ...(unread.length === 0 ? [] : [`${lost} could not be read`]),
  ].join('; ');
}

function toTemporalError(error: unknown, address: string): ConveyorError {
  const internal = (): ConveyorError => conveyorError('internal', { detail: 'cannot read the ended releases' });
  return translate(error, { id: 'the last that ended', address, notFound: internal, refused: internal });
}

/** @throws ConveyorError `usage` if none is configured */
function requireArchive({ archive, file }: Pick<Registry, 'archive' | 'file'>): ArchiveSettings {
  if (archive !== null) return archive;
  throw conveyorError('usage', {
    text: `there is no archive: ${file} has no archive section`,
    hint: 'add it and restart the workers: archive: { file: /var/lib/conveyor/archive.duckdb }',
  });
}

export const openConfiguredArchive = (env: Env): Promise<OpenArchive> =>
  openArchive(requireArchive(loadRegistry(undefined, env)), env);
