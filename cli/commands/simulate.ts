import { conveyorError } from '../../domain/errors';
import { formatDuration } from '../../domain/text';
import { table } from '../../render/columns';
import { percent } from '../../render/words';
import { emit, printNote } from '../output';
import { createJobs, describeVersion, listJobs, type ListedJob } from '../simulator';
import { usualAddresses } from '../stack/addresses';
import type { Io } from '../io';
import { durationOption, countOption, examples, type Register } from './command';

/** Sets up the simulated fleet for newcomers (docs/reference/fleet.md); scripts use its control API. */
export const simulateCommand: Register = (program, cli) => {
  const group = program
    .command('simulate')
    .description('set up the simulated fleet: jobs, and bad versions')
    .helpCommand(false);
  for (const register of [job, jobs, bad, good]) register(group, cli);
};

const getSimulatorUrl = (io: Io): string => usualAddresses(io.env, {}).simulator;

interface JobOptions {
  readonly region: string;
  readonly service?: string;
  readonly tasks?: string;
  readonly runs: string;
}

const job: Register = (group, cli) => {
  group
    .command('job <name>')
    .description('add a job to the fleet; an existing one stays as it is')
    .option('--region <name>', 'its region', 'x')
    .option('--service <name>', 'its service (default: its own name)')
    .option('--tasks <n>', 'its number of tasks (default 100)')
    .option('--runs <version>', 'the version that its tasks run', 'none:0')
    .addHelpText('after', examples('conveyor simulate job web', 'conveyor simulate job web-y --region y --service web'))
    .action(
      cli.handle<JobOptions, [string]>(async ({ io, output, options }, name) => {
        const { region, service = name, runs: version } = options;
        const tasks = countOption('--tasks', options.tasks, 100);
        const added = await createJobs(getSimulatorUrl(io), [{ name, region, service, tasks, version }]);
        if (added.length === 0) printNote(io, `job ${name} already exists`);
        return printJobs(io, output, (one) => one.name === name);
      }),
    );
};

const jobs: Register = (group, cli) => {
  group
    .command('jobs')
    .description('the jobs of the fleet, and the versions that their tasks run')
    .addHelpText('after', examples('conveyor simulate jobs'))
    .action(cli.handle<object>(({ io, output }) => printJobs(io, output, () => true)));
};

async function printJobs(
  io: Io,
  output: Parameters<typeof emit>[1],
  isMeant: (job: ListedJob) => boolean,
): Promise<number> {
  const rows = (await listJobs(getSimulatorUrl(io))).filter(isMeant);
  emit(io, output, rows, {
    text: (view, shown) =>
      table(
        ['JOB', 'REGION', 'TASKS', 'RUNS'],
        shown.map(jobCells),
        'no jobs; conveyor simulate job NAME adds one',
        view,
      ),
    name: rows.map(({ name }) => name),
  });
  return 0;
}

const jobCells = ({ name, region, size, versions }: ListedJob): string[] => [
  name,
  region,
  String(size),
  Object.entries(versions)
    .flatMap(([version, count]) => (count > 0 ? [`${version} on ${count}`] : []))
    .join(', '),
];

interface BadOptions {
  readonly errorRatio?: string;
  readonly latencyFactor?: string;
  readonly cpuFactor?: string;
  readonly memoryLeak?: string;
  readonly crash?: boolean;
  readonly failBuild?: boolean;
  readonly failTests?: boolean;
  readonly onlyRegion?: string;
  readonly after?: string;
}

const bad: Register = (group, cli) => {
  group
    .command('bad <version>')
    .description('make tasks of this version misbehave from now on')
    .option('--error-ratio <share>', 'the additional share of its requests that fail, 0 to 1')
    .option('--latency-factor <x>', 'its requests take this many times as long')
    .option('--cpu-factor <x>', 'it needs this many times the CPU')
    .option('--memory-leak <mb>', 'the memory that it leaks, in megabytes a minute')
    .option('--crash', 'its tasks do not come up')
    .option('--fail-build', 'it does not build')
    .option('--fail-tests', 'it fails its tests')
    .option('--only-region <name>', 'only in this region')
    .option('--after <duration>', 'only once a task has run this long, in simulated time')
    .addHelpText(
      'after',
      examples('conveyor simulate bad kv:13 --error-ratio 0.2', 'conveyor simulate bad kv:14 --crash'),
    )
    .action(
      cli.handle<BadOptions, [string]>(async ({ io, output, options }, version) => {
        const behaviour = versionBehaviour(options);
        if (Object.entries(behaviour).every(([key, value]) => changesNothing(key, value)))
          throw conveyorError('usage', {
            text: `no fault given for ${version}`,
            hint: `conveyor simulate bad ${version} --error-ratio 0.2`,
          });
        await describeVersion(getSimulatorUrl(io), version, { ...behaviour });
        emit(
          io,
          output,
          { version, behaviour },
          {
            text: (_, shown) => `${shown.version} is bad from now on: ${misbehaviourWords(shown.behaviour)}`,
            name: [version],
          },
        );
        return 0;
      }),
    );
};

const good: Register = (group, cli) => {
  group
    .command('good <version>')
    .description('make tasks of this version behave well from now on')
    .addHelpText('after', examples('conveyor simulate good kv:13'))
    .action(
      cli.handle<object, [string]>(async ({ io, output }, version) => {
        await describeVersion(getSimulatorUrl(io), version, {});
        emit(
          io,
          output,
          { version, behaviour: {} },
          { text: (_, shown) => `${shown.version} is good from now on`, name: [version] },
        );
        return 0;
      }),
    );
};

/** The faults of a version, as the control API of the simulator names them. */
interface Misbehaviour {
  readonly errorRatio?: number;
  readonly latencyFactor?: number;
  readonly cpuFactor?: number;
  readonly memoryLeakMbPerMinute?: number;
  readonly crashOnStart?: true;
  readonly failBuild?: true;
  readonly failTests?: true;
  readonly onlyRegion?: string;
  readonly afterMs?: number;
}

function misbehaviourWords(given: Misbehaviour): string {
  const { errorRatio = 0, latencyFactor = 1, cpuFactor = 1, memoryLeakMbPerMinute: leak = 0 } = given;
  const { crashOnStart, failBuild, failTests, onlyRegion, afterMs } = given;
  return [
    errorRatio !== 0 && `${percent(errorRatio)} more of its requests fail`,
    latencyFactor !== 1 && `its requests take ${latencyFactor} times as long`,
    cpuFactor !== 1 && `it needs ${cpuFactor} times the CPU`,
    leak !== 0 && `it leaks ${leak} MB a minute`,
    crashOnStart && 'its tasks do not come up',
    failBuild && 'it does not build',
    failTests && 'it fails its tests',
    onlyRegion !== undefined && `only in ${onlyRegion}`,
    afterMs !== undefined && `only ${formatDuration(afterMs)} after a task started`,
  ]
    .filter((words) => words)
    .join(', ');
}

/** A place or time alone is not a fault; nor is a factor of one or an addition of zero. */
const changesNothing = (key: string, value: unknown): boolean =>
  key === 'onlyRegion' || key === 'afterMs' || value === (key.endsWith('Factor') ? 1 : 0);

/** The body of `POST /control/versions`, which reports values out of bounds. */
function versionBehaviour({
  errorRatio,
  latencyFactor,
  cpuFactor,
  memoryLeak,
  after,
  ...options
}: BadOptions): Misbehaviour {
  const { crash, failBuild, failTests, onlyRegion } = options;
  const numbers = { errorRatio, latencyFactor, cpuFactor, memoryLeakMbPerMinute: memoryLeak };
  const given = Object.entries(numbers).flatMap(([key, text]) =>
    text === undefined ? [] : [[key, parseNumber(text)]],
  );
  const afterMs = durationOption('--after', after);
  return {
    ...(Object.fromEntries(given) as Record<keyof typeof numbers, number>),
    ...(crash ? { crashOnStart: true } : {}),
    ...(failBuild ? { failBuild: true } : {}),
    ...(failTests ? { failTests: true } : {}),
    ...(onlyRegion === undefined ? {} : { onlyRegion }),
    ...(afterMs === undefined ? {} : { afterMs }),
  };
}

function parseNumber(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw conveyorError('usage', { text: `${text} is not a number`, hint: 'such as 0.2' });
}
