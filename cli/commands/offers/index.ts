import { examples, type Register } from '../command';
import { checkOffers } from './check';
import { exportOffers } from './export';
import { listOffers } from './list';
import { showOffers } from './show';

/** Offers of pipelines to others, and the wishes for them. */
export const offersCommand: Register = (program, cli) => {
  const group = program
    .command('offers')
    .description('offers of pipelines to others, their users, and whether wishes fit them')
    .addHelpText('after', examples('conveyor offers list', 'conveyor offers show network'))
    .helpCommand(false);
  for (const register of [listOffers, showOffers, exportOffers, checkOffers]) register(group, cli);
};
