import { parse } from 'yaml';
import { PlanError } from '../../domain/deploy/plan';
import { planView, type PlanTimes } from '../../domain/deploy/planView';
import { ConveyorError, conveyorError } from '../../domain/errors';
import type { Unit } from '../../domain/fleet/unit';
import type { DeployAction, PipelineSpec } from '../../domain/spec/pipeline';
import type { PlanView } from '../../domain/views';
import { callExtension } from '../../sdk/client';
import { pushTypeProtocol } from '../../sdk/protocol/pushType';
import { loadRegistry } from '../../sdk/registry';
import { actorOf, type Io } from '../io';
import { emit } from '../output';
import { readText, requirePipelineFile } from '../pipelineFile';
import { renderPlan } from '../render/plan';
import { durationOption, examples, type Register } from './command';

interface Options {
  readonly action?: string;
  readonly now?: string;
  readonly units?: string;
  readonly updateTime?: string;
}

const DEFAULT_UPDATE_TIME_MS = 300_000;

export const plan: Register = (program, cli) => {
  program
    .command('plan <file>')
    .description('what a deploy would do, phase by phase, and when; changes nothing')
    .option('--action <name>', 'which deploy action, when there are several')
    .option('--now <time>', 'plan as if it began then (ISO-8601)')
    .option('--units <file>', 'the fleet, as fetchDeployUnits answers it; else the push type is asked')
    .option('--update-time <duration>', 'how long updating one phase takes (default 5m)')
    .addHelpText(
      'after',
      examples(
        'conveyor plan pipeline.yaml',
        'conveyor plan pipeline.yaml --units fleet.json --now 2026-11-23T09:00:00Z',
      ),
    )
    .action(
      cli.handle<Options, [string]>(async ({ io, output, options }, file) => {
        const { spec } = await requirePipelineFile(file);
        const [name, action] = deployActionOf(spec, options.action);
        const nowMs = timeOption(options.now) ?? io.now();
        const updateTimeMs = durationOption('--update-time', options.updateTime) ?? DEFAULT_UPDATE_TIME_MS;
        const units =
          options.units === undefined ? await askPushType(io, spec, name, action) : readUnits(options.units);
        const planned = planOf(spec, name, units, { now: nowMs, updateTimeMs });
        emit(io, output, planned, {
          text: (view) => renderPlan(planned, { ...view, now: nowMs }),
          name: planned.phases.map((phase) => phase.name),
        });
        return 0;
      }),
    );
};

/** @throws plan-impossible when the phases do not fit the fleet. */
function planOf(spec: PipelineSpec, name: string, units: readonly Unit[], times: PlanTimes): PlanView {
  try {
    return planView(spec, name, units, times);
  } catch (error) {
    throw error instanceof PlanError ? conveyorError('plan-impossible', { why: error.message }) : error;
  }
}

function deployActionOf(spec: PipelineSpec, wanted: string | undefined): readonly [string, DeployAction] {
  const deploys = Object.entries(spec.actions).flatMap(([name, action]) =>
    action.type === 'deploy' ? [[name, action] as const] : [],
  );
  const names = deploys.map(([name]) => name).join(', ');
  const found = wanted === undefined ? deploys : deploys.filter(([name]) => name === wanted);
  const [only] = found;
  if (only && found.length === 1) return only;
  if (deploys.length === 0)
    throw conveyorError('usage', { text: `${spec.pipeline} has no deploy action`, hint: 'only deploys have a plan' });
  if (wanted === undefined)
    throw conveyorError('usage', {
      text: `${spec.pipeline} has ${deploys.length} deploy actions`,
      hint: `choose one with --action: ${names}`,
    });
  throw conveyorError('usage', { text: `${spec.pipeline} has no deploy action ${wanted}`, hint: `it has ${names}` });
}

function timeOption(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  if (Number.isFinite(at)) return at;
  throw conveyorError('usage', { text: `--now ${text} is no time`, hint: 'write it as 2026-11-23T09:00:00Z' });
}

/** A file as `fetchDeployUnits` answers it, in JSON or YAML. */
function readUnits(file: string): readonly Unit[] {
  const parsed = pushTypeProtocol.fetchDeployUnits.response.safeParse(parseValue(readText(file), file));
  if (parsed.success) return parsed.data.units;
  const [issue] = parsed.error.issues;
  const detail = `${issue?.path.join('.') || '(top)'}: ${issue?.message ?? ''}`;
  throw conveyorError('file-unreadable', { file, detail: `not what fetchDeployUnits answers: ${detail}` });
}

function parseValue(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw conveyorError('file-unreadable', {
      file,
      detail: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error),
    });
  }
}

async function askPushType(io: Io, spec: PipelineSpec, name: string, action: DeployAction): Promise<readonly Unit[]> {
  const service = loadRegistry(undefined, io.env).find('push-type', action.with.pushType);
  const context = {
    pipeline: spec.pipeline,
    release: 0,
    deployId: `${spec.pipeline}/plan/${name}`,
    actor: actorOf(io),
    config: action.with.config,
  };
  try {
    const { units } = await callExtension({
      service,
      protocol: pushTypeProtocol,
      method: 'fetchDeployUnits',
      request: {},
      context,
    });
    return units;
  } catch (error) {
    if (!(error instanceof ConveyorError)) throw error;
    const hint = `a plan needs the fleet: start ${service.name} (at ${service.url}), or give its units with --units FILE`;
    throw new ConveyorError(error.code, error.message, hint, error.retryable, error.exit);
  }
}
