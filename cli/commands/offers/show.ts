import { renderPipelineOffers } from '../../../render/offers';
import { withClient } from '../../door';
import { EXIT } from '../../exit';
import { emit } from '../../output';
import { examples, type Register } from '../command';

export const showOffers: Register = (group, cli) => {
  group
    .command('show <pipeline>')
    .description('the offers of a pipeline: their values, the deploys that use them, and changes under way')
    .addHelpText('after', examples('conveyor offers show network', 'conveyor offers show network -o json'))
    .action(
      cli.handle<object, [string]>(({ io, output, connect }, pipeline) =>
        withClient(io, connect, async (client) => {
          const shown = await client.offers(pipeline);
          emit(io, output, shown, {
            text: (view, offers) => renderPipelineOffers(offers, view),
            name: shown.offers.map(({ name }) => `${pipeline}/${name}`),
          });
          return EXIT.ok;
        }),
      ),
    );
};
