import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { pastDeploys, type PastDeploys } from '../../client/pastDeploys';
import { conveyorError } from '../../domain/errors';
import { listDeployActions, type NamedDeploy } from '../../domain/spec/deployActions';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import type { HealthCheck } from '../../domain/spec/health';
import { formatTime, plural } from '../../domain/text';
import { backtestChecks } from '../../sdk/health/backtest';
import { pastTicks } from '../../sdk/health/pastTicks';
import { labelSchema, type Label } from '../../sdk/protocol/backtest';
import { loadRegistry } from '../../settings/registry';
import { backtestText, type ActionBacktest, type BacktestReport } from '../../render/backtest';
import { createShapeError, readData } from '../dataFile';
import { EXIT } from '../exit';
import { withClient } from '../door';
import { liveRegion } from '../live';
import { emit, printNote } from '../output';
import { requirePipelineFile } from '../pipelineFile';
import { plotDirectory, writePlots } from '../plots';
import { durationOption, examples, type CommandCall, type Register } from './command';

interface BacktestOptions {
  readonly since: string;
  readonly check?: readonly string[];
  readonly labels?: string;
  readonly plot?: string;
}

export const backtestCommand: Register = (parent, cli) => {
  parent
    .command('backtest <file>')
    .description('try the health checks of a pipeline file on its past deploys, and name better limits')
    .option('--since <duration>', 'deploys that began since then', '14d')
    .option('--check <name...>', 'only these checks')
    .option('--labels <file>', 'labels of bad deploys, and your own recordings (YAML or JSON)')
    .option('--plot <directory>', 'write an SVG of each check there: the metric of each deploy with the verdicts')
    .addHelpText(
      'after',
      examples(
        'conveyor health backtest pipeline.yaml',
        'conveyor health backtest pipeline.yaml --since 90d --check errors --plot plots',
        'conveyor health backtest pipeline.yaml --labels labels.yaml -o wide',
      ),
    )
    .action(
      cli.handle<BacktestOptions, [string]>(async (call, file) => {
        const { io, output, options } = call;
        const { spec } = await requirePipelineFile(file, io.now());
        const sinceMs = io.now() - (durationOption('--since', options.since) ?? 0);
        const labels = options.labels === undefined ? [] : readLabels(options.labels);
        const actions = chooseChecks(spec, options.check);
        if (options.plot !== undefined) plotDirectory(options.plot);
        const tried = await tryAll(call, spec, actions, sinceMs, labels);
        if (tried === 'interrupted') return EXIT.interrupted;
        const plots = options.plot === undefined ? [] : writePlots(options.plot, tried);
        const report: BacktestReport = { pipeline: spec.pipeline, since: formatTime(sinceMs), actions: tried, plots };
        emit(io, output, report, {
          text: (view, shown) => backtestText(shown, view, output.wide),
          name: tried.flatMap(({ checks }) => checks.map(({ check }) => check)),
        });
        return 0;
      }),
    );
};

/** A deploy action with its checks to try. */
interface ChosenCheck {
  readonly action: NamedDeploy;
  readonly checks: readonly HealthCheck[];
}

/** @throws usage if there is nothing to try, with the possible names. */
function chooseChecks(spec: PipelineSpec, wanted: readonly string[] | undefined): ChosenCheck[] {
  const all = listDeployActions(spec).map((action) => ({ action, checks: action[1].with.healthChecks }));
  const names = all.flatMap(({ checks }) => checks.map(({ name }) => name));
  if (names.length === 0)
    throw conveyorError('usage', {
      text: `no deploy of ${spec.pipeline} has a health check`,
      hint: 'take a ready one, such as { uses: standard/rpc-errors }',
    });
  const missing = wanted?.find((name) => !names.includes(name));
  if (missing !== undefined)
    throw conveyorError('usage', {
      text: `${spec.pipeline} has no check ${missing}`,
      hint: `it has ${names.join(', ')}`,
    });
  return all
    .map(({ action, checks }) => ({ action, checks: checks.filter(({ name }) => wanted?.includes(name) ?? true) }))
    .filter(({ checks }) => checks.length > 0);
}

/** Stops after Ctrl-C. */
async function tryAll(
  { io, connect }: CommandCall<BacktestOptions>,
  spec: PipelineSpec,
  chosen: readonly ChosenCheck[],
  sinceMs: number,
  labels: readonly Label[],
): Promise<ActionBacktest[] | 'interrupted'> {
  const registry = loadRegistry(undefined, io.env);
  const pasts = await withClient(io, connect, async (client) => {
    const found: (ChosenCheck & PastDeploys)[] = [];
    for (const one of chosen) found.push({ ...one, ...(await pastDeploys(client, spec, one.action, sinceMs)) });
    return found;
  });
  warnOfUnused(labels, pasts, (text) => printNote(io, text));
  const signal = io.interrupted();
  const screen = io.stderr.isTTY ? liveRegion(io.stderr) : undefined;
  try {
    const tried: ActionBacktest[] = [];
    for (const {
      action: [name],
      checks,
      deploys,
      lost,
    } of pasts) {
      const ask = (deploy: (typeof deploys)[number]) =>
        pastTicks(deploy, checks, registry.find('push-type', deploy.pushType), { signal });
      const onProgress = (done: number): void =>
        screen?.draw(`tried on ${done} of ${plural(deploys.length, 'deploy')} of ${spec.pipeline}/…/${name}`);
      onProgress(0);
      const backtests = await backtestChecks({ checks, deploys, labels, ask, onProgress });
      tried.push({ action: name, deploys: deploys.length, lost, checks: backtests });
    }
    return tried;
  } catch (error) {
    if (signal.aborted) return 'interrupted';
    throw error;
  } finally {
    screen?.end();
  }
}

function warnOfUnused(labels: readonly Label[], pasts: readonly PastDeploys[], warn: (text: string) => void): void {
  const known = new Set(pasts.flatMap(({ deploys }) => deploys.map(({ id }) => id)));
  const unused = labels.flatMap((label) => ('deploy' in label && !known.has(label.deploy) ? [label.deploy] : []));
  if (unused.length > 0) warn(`warning: labels of deploys that are not among those tried: ${unused.join(', ')}`);
}

/** A recording may be the name of a file in the folder of the labels. @throws file-unreadable */
function readLabels(file: string): Label[] {
  const value = readData(file);
  const whole = Array.isArray(value) ? value.map((label: unknown) => withRecording(label, dirname(file))) : value;
  const parsed = z.array(labelSchema).safeParse(whole);
  if (parsed.success) return parsed.data;
  throw createShapeError(file, parsed.error);
}

function withRecording(label: unknown, directory: string): unknown {
  if (typeof label !== 'object' || label === null || !('recording' in label) || typeof label.recording !== 'string')
    return label;
  return { ...label, recording: readData(resolve(directory, label.recording)) };
}
