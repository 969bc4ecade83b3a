import { writeFileSync } from 'node:fs';
import { Option } from 'commander';
import { allOnOneLine } from '../../domain/plainText';
import { GROUPINGS, type Grouping } from '../../domain/stats/tallies';
import { statsText } from '../../render/stats';
import { statsPage } from '../../render/statsPage';
import { EXIT } from '../exit';
import { emit } from '../output';
import { writeOrRefuse } from '../plots';
import { examples, type CommandCall, type Register } from './command';
import { loadStats } from './statsReport';

interface StatsOptions {
  readonly since?: string;
  readonly by: Grouping;
  readonly html?: string;
  /** `html` in addition to the formats of all commands. */
  readonly output?: string;
}

export const statsCommand: Register = (program, cli) => {
  program
    .command('stats')
    .description('statistics of releases and deploys: schedules, end states, failures, times, service level')
    .option('--since <time>', 'only those that ended since then: a duration ago, or a time (default: 21d)')
    .addOption(
      new Option('--by <grouping>', 'group pipelines by their label category, or all together')
        .choices(GROUPINGS)
        .default('category'),
    )
    .option('--html <file>', 'write one page with plots to this file, and print its name (-o html prints the page)')
    .addHelpText(
      'after',
      examples(
        'conveyor stats',
        'conveyor stats --since 90d --by all',
        'conveyor stats --since 365d --html stats.html',
        'conveyor stats --since 365d -o html > stats.html',
      ),
    )
    .action(cli.handle<StatsOptions>(showStats, { formats: ['html'] }));
};

async function showStats(call: CommandCall<StatsOptions>): Promise<number> {
  const { io, output, options } = call;
  const report = await loadStats(call, options);
  if (options.html !== undefined) {
    const [file, page] = [options.html, statsPage(allOnOneLine(report))];
    writeOrRefuse('--html', file, () => writeFileSync(file, page));
    emit(io, output, { file }, { text: () => file, name: [file] });
  } else if (options.output === 'html') io.stdout.write(statsPage(allOnOneLine(report)));
  else
    emit(io, output, report, {
      text: (view, shown) => statsText(shown, view),
      name: report.dora.map(({ category }) => category),
    });
  return EXIT.ok;
}
