import { isRealDate } from '../../domain/calendar/ends';
import { blackoutsWithin, getOpeningState } from '../../domain/calendar/opening';
import { planView, type PlanTimes } from '../../domain/deploy/planView';
import { ConveyorError, conveyorError } from '../../domain/errors';
import type { Unit } from '../../domain/fleet/unit';
import { getCategory } from '../../domain/health/statistics';
import { summarizeExperience } from '../../domain/stats/experience';
import { listDeployActions, type NamedDeploy } from '../../domain/spec/deployActions';
import { toOpenTimes, withBlackouts } from '../../domain/release/openTimes';
import type { DeployAction, PipelineSpec } from '../../domain/spec/pipeline';
import type { PlanView } from '../../domain/views';
import { renderPlan, type PlanReport } from '../../render/plan';
import type { CheckedFile } from '../../render/problems';
import { askPushType, asPlanImpossible } from '../fleet';
import { findFleetFile, readUnits } from '../fleetFile';
import type { Io } from '../io';
import { emit, printNote } from '../output';
import { pastUpdateMs } from '../pastDeploys';
import { requirePipelineFile } from '../pipelineFile';
import { findPresentWishes, requireValues } from '../presentWishes';
import { noteScriptsOff } from '../scriptsNotice';
import { findRoom } from '../windowRoom';
import { durationOption, examples, type CommandCall, type Register } from './command';
import { EXPERIENCE_SINCE, noteLacking, statsIfAny } from './statsReport';

interface PlanOptions {
  readonly action?: string;
  readonly now?: string;
  readonly units?: string;
  readonly updateTime?: string;
}

/** The assumption without any data; the plan mentions it. */
const ASSUMED_UPDATE_TIME_MS = 300_000;

export const planCommand: Register = (program, cli) => {
  program
    .command('plan <file>')
    .description('show what a deploy would do, phase by phase, and when; changes nothing')
    .option('--action <name>', 'the deploy action, if there are several')
    .option('--now <time>', 'plan as if it began then (ISO-8601)')
    .option('--units <file>', 'the fleet, in the format of fetchDeployUnits (default: ask the push type)')
    .option('--update-time <duration>', 'how long the updates of one phase take (default: as in past deploys, else 5m)')
    .addHelpText(
      'after',
      examples(
        'conveyor plan pipeline.yaml',
        'conveyor plan pipeline.yaml --units fleet.json --now 2026-11-23T09:00:00Z',
        'conveyor plan examples/storage/pipeline.yaml --now 2026-11-23T09:00-08:00 --update-time 25m',
      ),
    )
    .action(
      cli.handle<PlanOptions, [string]>(async (call, file) => {
        const { io, output, options, connect } = call;
        const read = await requirePipelineFile(file, io.now());
        const { spec } = read;
        noteScriptsOff(io, [read]);
        noteAssumptions(io, read);
        const [name, action] = findDeployAction(spec, options.action);
        const { deploy, wishes, unfit, warnings } = await findPresentWishes(io, connect, spec, [name, action]);
        const nowMs = timeOption(options.now) ?? io.now();
        const givenMs = durationOption('--update-time', options.updateTime);
        const units =
          options.units === undefined
            ? await fetchFleet(io, file, spec, deploy, wishes)
            : readUnits(options.units, deploy[1].with.config);
        const [beginning, update, past] = await Promise.all([
          findRoom(io, connect, spec, [name, action], nowMs),
          updateTime(call, givenMs, spec.pipeline, name),
          statsIfAny(call, EXPERIENCE_SINCE),
        ]);
        const times = { ...beginning, openingAt: getOpeningState, ...update };
        const planned = await asPlanImpossible(() => planView(spec, name, units, times));
        emit(
          io,
          output,
          {
            ...{
              ...planned,
              warnings: [...planned.warnings, ...warnings],
              ...(wishes && { wishes }),
              ...(unfit && { unfit }),
            },
            ...{ ...timesMet(spec, action, nowMs, planned.finishesAt), ...experience(io, spec, past) },
          },
          {
            text: (view, shown) => renderPlan(shown, { ...view, now: nowMs }),
            name: planned.phases.map((phase) => phase.name),
          },
        );
        return 0;
      }),
    );
};

/** A plan uses the blackouts that could be read, and phases that the file may not have. */
function noteAssumptions(io: Io, { problems }: CheckedFile): void {
  for (const { code, message } of problems)
    if (code.startsWith('calendar-') || code === 'default-phases') printNote(io, message);
}

/** The windows that the plan meets, and the blackouts before its end. */
function timesMet(
  spec: PipelineSpec,
  action: DeployAction,
  fromMs: number,
  finishesAt: string | null,
): Pick<PlanView, 'windows' | 'blackouts'> {
  const times = toOpenTimes(withBlackouts(spec, action));
  if (times === undefined) return {};
  const toMs = finishesAt === null ? fromMs : Date.parse(finishesAt);
  return { windows: times.windows, blackouts: blackoutsWithin(times.blackouts, fromMs, toMs) };
}

/** The given time, else that of past deploys, else the assumption. */
async function updateTime(
  { io, connect }: CommandCall<PlanOptions>,
  givenMs: number | undefined,
  pipeline: string,
  action: string,
): Promise<Pick<PlanTimes, 'updateTimeMs' | 'assumed'>> {
  const knownMs = givenMs ?? (await pastUpdateMs(io, connect, pipeline, action));
  return knownMs === null ? { updateTimeMs: ASSUMED_UPDATE_TIME_MS, assumed: true } : { updateTimeMs: knownMs };
}

/** An unavailable archive must not fail a plan. Without an archive there is nothing to note. */
function experience(
  io: Io,
  spec: PipelineSpec,
  { stats, lacking }: Awaited<ReturnType<typeof statsIfAny>>,
): Pick<PlanReport, 'experience'> {
  if (lacking?.code !== 'usage') noteLacking(io, lacking);
  return stats === null ? {} : { experience: summarizeExperience(stats, getCategory(spec)) };
}

function findDeployAction(spec: PipelineSpec, wanted: string | undefined): NamedDeploy {
  const deploys = listDeployActions(spec);
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
  // JavaScript accepts the 30th of February as a day of March.
  const at = ISO_8601.test(text) && isRealDate(text) ? Date.parse(text) : NaN;
  if (Number.isFinite(at)) return at;
  throw conveyorError('usage', { text: `--now ${text} is not a time`, hint: 'write it as 2026-11-23T09:00:00Z' });
}

const ISO_8601 = /^\d{4}-\d\d-\d\d(T\d\d:\d\d.*)?$/;

/** The units from the push type; if it does not answer, those of the fleet file next to the pipeline file, with a note. */
async function fetchFleet(
  io: Io,
  file: string,
  spec: PipelineSpec,
  deploy: NamedDeploy,
  wishes: PlanView['wishes'],
): Promise<readonly Unit[]> {
  const { config, pushType } = deploy[1].with;
  requireValues(spec, deploy, wishes);
  try {
    return await askPushType(io, spec, deploy);
  } catch (error) {
    const beside = isUnavailable(error) ? findFleetFile(file, config) : undefined;
    if (beside === undefined) throw error;
    printNote(io, `${pushType} does not answer: planned for the fleet of ${beside}`);
    return readUnits(beside, config);
  }
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof ConveyorError && error.code === 'extension-unavailable';
