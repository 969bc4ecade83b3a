import { conveyorError } from '../../domain/errors';
import { finderNames } from '../../domain/finder/health';
import type { FinderView } from '../../domain/views';
import type { ConveyorClient, ListQuery } from '../../client/api';
import { finderTable } from '../../render/finders';
import { deployTable, pipelineTable, releaseTable } from '../../render/lists';
import type { View } from '../../render/paint';
import type { Io } from '../io';
import { withClient } from '../door';
import { emit, type Output } from '../output';
import { STATES } from '../states';
import { countOption, examples, type Register } from './command';

interface ListOptions {
  readonly pipeline?: string;
  readonly state?: string;
  readonly limit?: string;
}

const DEFAULT_LIMIT = 50;

async function fetchFinders(client: ConveyorClient, { pipeline, state, limit }: ListQuery): Promise<FinderView[]> {
  const all = await client.listFinders();
  const wanted = pipeline === undefined ? undefined : finderNames(await client.spec(pipeline));
  return all
    .filter((finder) => (wanted?.includes(finder.id) ?? true) && (state === undefined || finder.state === state))
    .slice(0, limit);
}

/** The kinds of listings, each with its query and its table. */
const LISTINGS = {
  pipelines: async (client: ConveyorClient, query: ListQuery) =>
    asListing(await client.listPipelines(query), pipelineTable),
  releases: async (client: ConveyorClient, query: ListQuery) =>
    asListing(await client.listReleases(query), releaseTable),
  deploys: async (client: ConveyorClient, query: ListQuery) => asListing(await client.listDeploys(query), deployTable),
  finders: async (client: ConveyorClient, query: ListQuery) =>
    asListing(await fetchFinders(client, query), finderTable),
};

export const listCommand: Register = (program, cli) => {
  program
    .command('list <kind>')
    .description('pipelines, releases or deploys, newest first; or finders: whether they answer')
    .option('-p, --pipeline <name>', 'only of this pipeline')
    .option('-s, --state <state>', 'only in this state, such as running or baking')
    .option('-n, --limit <count>', `at most this many (default ${DEFAULT_LIMIT})`)
    .addHelpText(
      'after',
      examples(
        'conveyor list pipelines',
        'conveyor list releases -p kvstore --state running',
        'conveyor list deploys -o name',
        'conveyor list finders --state failing',
      ),
    )
    .action(
      cli.handle<ListOptions, [string]>(({ io, output, connect, options }, kind) => {
        const what = parseListingKind(kind);
        const read = LISTINGS[what];
        const states: readonly string[] = STATES[what];
        if (options.state !== undefined && !states.includes(options.state))
          throw conveyorError('usage', {
            text: `no ${what} are ${options.state}`,
            hint: `one of ${states.join(', ')}`,
          });
        const query = {
          limit: countOption('--limit', options.limit, DEFAULT_LIMIT),
          ...(options.pipeline === undefined ? {} : { pipeline: options.pipeline }),
          ...(options.state === undefined ? {} : { state: options.state }),
        };
        return withClient(io, connect, async (client) => {
          const { print } = await read(client, query);
          print(io, output);
          return 0;
        });
      }),
    );
};

function parseListingKind(word: string): keyof typeof LISTINGS {
  const kinds = Object.keys(LISTINGS) as (keyof typeof LISTINGS)[];
  const found = kinds.find((kind) => kind === word || kind === `${word}s`);
  if (found) return found;
  throw conveyorError('usage', { text: `cannot list ${word}`, hint: `one of ${kinds.join(', ')}` });
}

function asListing<T extends { readonly id: string }>(
  rows: readonly T[],
  render: (rows: readonly T[], view: View, wide?: boolean) => string,
): { readonly print: (io: Io, output: Output) => void } {
  const name = rows.map((row) => row.id);
  return {
    print: (io, output) => emit(io, output, rows, { text: (view, shown) => render(shown, view, output.wide), name }),
  };
}
