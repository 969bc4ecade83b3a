import type { ConveyorClient } from '../../client/api';
import { computeStatistics, type Past } from '../../domain/health/statistics';
import { KEPT_RELEASES } from '../../domain/pipeline/recordOutcome';
import { formatTime } from '../../domain/text';
import { statisticsText, type StatisticsReport } from '../../render/statistics';
import { withClient } from '../door';
import { emit } from '../output';
import { durationOption, examples, type Register } from './command';

export const statisticsCommand: Register = (parent, cli) => {
  parent
    .command('statistics [pipeline...]')
    .description('how often health checks stopped good versions and passed bad ones')
    .option(
      '--since <duration>',
      'only releases that ended since then, such as 90d; default: all that Conveyor remembers',
    )
    .addHelpText(
      'after',
      examples('conveyor health statistics', 'conveyor health statistics kvstore --since 90d -o wide'),
    )
    .action(
      cli.handle<{ readonly since?: string }, [string[]]>(({ io, output, connect, options }, pipelines) => {
        const sinceMs = durationOption('--since', options.since);
        return withClient(io, connect, async (client) => {
          const pasts = await loadPasts(client, pipelines);
          const report = statisticsReport(pasts, sinceMs === undefined ? null : io.now() - sinceMs);
          emit(io, output, report, {
            text: (view, shown) => statisticsText(shown, view, output.wide),
            name: report.pipelines.map(({ pipeline }) => pipeline),
          });
          return 0;
        });
      }),
    );
};

/** A pipeline that is named twice counts once. */
async function loadPasts(client: ConveyorClient, names: readonly string[]): Promise<Past[]> {
  const pipelines =
    names.length === 0
      ? await client.listPipelines({ limit: Infinity })
      : await Promise.all(
          [...new Set(names)].map(async (name) => ({ id: name, labels: (await client.spec(name)).labels })),
        );
  const pasts: Past[] = [];
  for (const { id, labels } of pipelines) pasts.push({ pipeline: id, labels, history: await client.history(id) });
  return pasts.sort((a, b) => a.pipeline.localeCompare(b.pipeline));
}

function statisticsReport(pasts: readonly Past[], sinceMs: number | null): StatisticsReport {
  return {
    since: sinceMs === null ? null : formatTime(sinceMs),
    cut: pasts.filter((past) => isCut(past, sinceMs ?? 0)).map(({ pipeline }) => pipeline),
    ...computeStatistics(pasts, sinceMs ?? 0),
  };
}

function isCut({ history }: Past, sinceMs: number): boolean {
  const ends = history.flatMap(({ endedAt }) => (endedAt === null ? [] : [Date.parse(endedAt)]));
  return ends.length >= KEPT_RELEASES && Math.min(...ends) >= sinceMs;
}
