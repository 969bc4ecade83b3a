import type { ConveyorClient } from '../../client/api';
import type { Artifact } from '../../domain/artifact';
import { conveyorError } from '../../domain/errors';
import { actorOf, withClient, type Io } from '../io';
import { emit, note, type Output } from '../output';
import { paint } from '../render/paint';
import { watch } from '../watch';
import { durationOption, examples, type Register } from './command';

interface Options {
  readonly artifact: readonly string[];
  readonly wait?: boolean;
  readonly timeout?: string;
  readonly idempotencyKey?: string;
}

export const release: Register = (program, cli) => {
  program
    .command('release <pipeline>')
    .description('start a release of some artifact versions')
    .option(
      '-a, --artifact <name=version[,key=value…]>',
      'repeat for several; keys kind, uri and digest are fields, others metadata',
      collect,
      [],
    )
    .option('-w, --wait', 'watch it until it ends')
    .option('--timeout <duration>', 'with --wait: stop watching after this long (exit 5); it goes on')
    .option('--idempotency-key <key>', 'the same key gives the same release, however often it is sent')
    .addHelpText(
      'after',
      examples(
        'conveyor release kvstore --artifact source=12 --wait',
        'conveyor release kvstore -a source=12,branch=main --idempotency-key "$CI_PIPELINE_ID"',
      ),
    )
    .action(
      cli.handle<Options, [string]>(({ io, output, connect, options }, pipeline) => {
        const artifacts = options.artifact.map(parseArtifact);
        const timeoutMs = durationOption('--timeout', options.timeout);
        const trigger = { kind: 'manual', actor: actorOf(io), key: options.idempotencyKey ?? null } as const;
        return withClient(io, connect, async (client) => {
          const started = await client.release(pipeline, artifacts, trigger);
          if (!options.wait) return announce(io, output, client, started);
          note(io, startedWords(started));
          return watch(io, client, started.id, { output, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
        });
      }),
    );
};

type Started = Awaited<ReturnType<ConveyorClient['release']>>;

/**
 * `executable=kv:12,digest=sha256:…,branch=main`. Kind is the name unless `kind=` says otherwise. A version may hold
 * `=` and `:`, but no comma.
 */
function parseArtifact(text: string): Artifact {
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

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

const startedWords = ({ id, duplicate }: Started): string =>
  duplicate ? `${id} was started before with the same key or artifacts` : `started ${id}`;

async function announce(io: Io, output: Output, client: ConveyorClient, started: Started): Promise<number> {
  const webUi = await webUiOf(client, started.id);
  emit(
    io,
    output,
    { ...started, webUi },
    {
      text: (view) => {
        const colors = paint(view.color);
        const link = webUi === null ? [] : [`${colors.bold('Web UI')}  ${colors.underline(webUi)}`];
        return [
          `${colors.green('✔')} ${startedWords(started)}`,
          ...link,
          `${colors.bold('Next')}    ${colors.cyan(`conveyor watch ${started.id}`)}`,
        ].join('\n');
      },
      name: [started.id],
    },
  );
  return 0;
}

/** The release was accepted whatever happens to this question. */
async function webUiOf(client: ConveyorClient, id: string): Promise<string | null> {
  try {
    const status = await client.status(id);
    return status.webUi;
  } catch {
    return null;
  }
}
