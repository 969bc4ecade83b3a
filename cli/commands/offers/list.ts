import { conveyorError } from '../../../domain/errors';
import { NAME } from '../../../domain/ids';
import { renderOfferList } from '../../../render/offers';
import { withClient } from '../../door';
import { EXIT } from '../../exit';
import { emit } from '../../output';
import { countOption, examples, type Register } from '../command';

const DEFAULT_LIMIT = 50;

interface ListOptions {
  readonly to?: string;
  readonly limit?: string;
}

export const listOffers: Register = (group, cli) => {
  group
    .command('list')
    .description('the offers of all pipelines, with their states and the number of their users')
    .option('--to <pipeline>', 'only offers that this pipeline may use')
    .option('-n, --limit <count>', `at most this many (default ${DEFAULT_LIMIT})`)
    .addHelpText('after', examples('conveyor offers list', 'conveyor offers list --to shop -o json'))
    .action(
      cli.handle<ListOptions>(({ io, output, connect, options: { to, limit: count } }) => {
        const limit = countOption('--limit', count, DEFAULT_LIMIT);
        if (to !== undefined && !NAME.test(to))
          throw conveyorError('invalid-id', { text: to, expected: 'the name of a pipeline' });
        return withClient(io, connect, async (client) => {
          const list = await client.listOffers({ limit, ...(to === undefined ? {} : { to }) });
          emit(io, output, list, {
            text: (view, shown) => renderOfferList(shown, view, output.wide),
            name: list.offers.map(({ id }) => id),
          });
          return EXIT.ok;
        });
      }),
    );
};
