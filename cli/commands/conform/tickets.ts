import { liveTickets } from '../../../sdk/conform/live/others';
import { examples, type Register } from '../command';
import { liveSettings, reachableService, withCommon, type CommonOptions } from './options';
import { runConformance } from './run';

interface TicketOptions extends CommonOptions {
  readonly assignee: string;
}

export const conformTickets: Register = (group, cli) => {
  withCommon(
    group
      .command('tickets <url>')
      .description('opens some tickets and closes them')
      .option('--assignee <principal>', 'the assignee of the tickets', 'group:conform'),
  )
    .addHelpText(
      'after',
      examples(
        'conveyor conform tickets http://localhost:4680 --assignee user:alice',
        'conveyor conform tickets http://localhost:4680 --json',
      ),
    )
    .action(
      cli.handle<TicketOptions, [string]>((call, url) => {
        const { io, options } = call;
        const { nonce } = liveSettings(io, '0s');
        return runConformance(
          call,
          liveTickets({ ...reachableService(io, url, options), assignee: options.assignee, nonce }),
        );
      }),
    );
};
