import { ConveyorError, conveyorError } from '../../../domain/errors';
import { plural } from '../../../domain/text';
import { EXIT } from '../../exit';
import { emit } from '../../output';
import { countOption, examples, numberOption, type Register } from '../command';
import { REPOSITORY, type RepositoryOptions } from './choice';
import type { FolderClient } from './folderClient';
import { openFolderClient } from './openFolderClient';

interface PublishOptions extends RepositoryOptions {
  readonly name: string;
  readonly listen: string;
  readonly message?: string;
  readonly modelVersion?: string;
  readonly uploadMb?: string;
  readonly again?: boolean;
}

export const publishModel: Register = (group, cli) => {
  group
    .command('publish-model <file>')
    .description('propose a file as a model, and serve its pieces to the first hosts until stopped')
    .requiredOption('--name <name>', 'the model: the configuration models/NAME names it')
    .requiredOption('--listen <host:port>', 'the address at which hosts fetch it')
    .option('-m, --message <text>', 'what changes, and why (default: which version of which model)')
    .option('--model-version <n>', 'the version number that people see (default: one more than on the branch)')
    .option('--upload-mb <n>', 'the upload limit, in megabytes a second (default: none)')
    .option('--again', 'only serve a file that was proposed before')
    .option(...REPOSITORY)
    .addHelpText(
      'after',
      examples(
        'conveyor config publish-model feed.bin --name feed --listen trainer-1:4710',
        'conveyor config publish-model feed.bin --name feed --listen trainer-1:4710 --again',
      ),
    )
    .action(
      cli.handle<PublishOptions, [string]>(async (call, file) => {
        const { io, output, options } = call;
        const path = `models/${options.name}`;
        const [vessel, { parsePeerPlace, listenForPeers }, { Throttle }] = [
          await import('../../../configerator/vessel/source'),
          await import('../../../configerator/vessel/listen'),
          await import('../../../configerator/vessel/throttle'),
        ];
        const place = parsePeerPlace(options.listen);
        if (place === undefined || place.port === 0) throw noPlace(options.listen);
        const source = `http://${place.host}:${place.port}`;
        const repository = await openFolderClient(call, { repository: options.repository });
        const before = await fetchPublishedNumber(repository, path);
        const version = countOption('--model-version', options.modelVersion, before + 1);
        const pack = await vessel
          .describePackage(file, { path, version, source })
          .catch((error: unknown) => throwUnreadable(file, error));
        const message = options.message ?? `Publish ${path} ${version}`;
        const change = options.again ? null : (await repository.proposeValues({ [path]: pack }, message)).version;
        const { uploadMb } = options;
        const rate = uploadMb === undefined ? undefined : numberOption('--upload-mb', uploadMb, 100) * MB;
        const door = await listenForPeers(
          new vessel.PieceSource(file, pack, () => Date.now()),
          place,
          rate === undefined ? undefined : new Throttle(rate),
        );
        const { digest, bytes } = pack;
        emit(
          io,
          output,
          { path, change, version, digest, bytes, pieces: pack.pieces.length, source },
          {
            text: () =>
              `${change ?? path}\n  ${path} ${version}: ${bytes} bytes in ${plural(pack.pieces.length, 'piece')}, served at ${source}`,
            name: [change ?? path],
          },
        );
        const stop = io.interrupted();
        if (!stop.aborted)
          await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }));
        door.close();
        return EXIT.ok;
      }),
    );
};

const MB = 1024 * 1024;

/** The number on the branch; 0 if there is none. */
async function fetchPublishedNumber(repository: FolderClient, path: string): Promise<number> {
  try {
    return parsePublishedNumber((await repository.value(path, null)).value);
  } catch (error) {
    if (error instanceof ConveyorError && error.code === 'not-found') return 0;
    throw error;
  }
}

function parsePublishedNumber(text: string): number {
  try {
    const { version } = JSON.parse(text) as { readonly version?: unknown };
    return Number.isSafeInteger(version) ? Number(version) : 0;
  } catch {
    return 0;
  }
}

const noPlace = (text: string) =>
  conveyorError('usage', { text: `--listen ${text} is not HOST:PORT`, hint: 'such as --listen trainer-1:4710' });

function throwUnreadable(file: string, error: unknown): never {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined || !/^E[A-Z]+$/.test(code)) throw error;
  throw conveyorError('usage', { text: `${file} cannot be read: ${message}`, hint: 'name the file of the model' });
}
