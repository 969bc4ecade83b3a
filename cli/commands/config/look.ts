import { EXIT } from '../../exit';
import { emit } from '../../output';
import { renderChanges, renderLog } from '../../render/config';
import { countOption, examples, type Register } from '../command';
import { REPOSITORY, type RepositoryOptions } from './choice';
import { openDesk } from './openDesk';

interface ListOptions extends RepositoryOptions {
  readonly limit?: string;
}

export const status: Register = (group, cli) => {
  group
    .command('status')
    .description('changes, newest first: who proposed them, and whether they have landed')
    .option('--limit <n>', 'how many', '20')
    .option(...REPOSITORY)
    .addHelpText('after', examples('conveyor config status', 'conveyor config status --limit 100 -o jsonl'))
    .action(
      cli.handle<ListOptions>(async (call) => {
        const { io, output, options } = call;
        const desk = await openDesk(call, options);
        const changes = await desk.changes(countOption('--limit', options.limit, 20));
        emit(io, output, changes, {
          text: (view, shown) => renderChanges(shown, view).join('\n'),
          name: changes.map(({ change, commit }) => `${change}@${commit}`),
        });
        return EXIT.ok;
      }),
    );
};

export const log: Register = (group, cli) => {
  group
    .command('log')
    .description('what has landed, newest first')
    .option('--limit <n>', 'how many', '20')
    .option(...REPOSITORY)
    .addHelpText('after', examples('conveyor config log', 'conveyor config log --limit 100 -o json'))
    .action(
      cli.handle<ListOptions>(async (call) => {
        const { io, output, options } = call;
        const desk = await openDesk(call, options);
        const commits = await desk.log(countOption('--limit', options.limit, 20));
        emit(io, output, commits, {
          text: (view, shown) => renderLog(shown, view).join('\n'),
          name: commits.map(({ commit }) => commit),
        });
        return EXIT.ok;
      }),
    );
};
