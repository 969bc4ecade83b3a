import { entryPoint } from '../stack/parts';
import { SIMULATED_SPEED } from '../simulator';
import { examples, type Call, type GlobalOptions, type Register } from './command';

/** One process each, which is this one: signals reach it, it drains and ends with its own exit code. */

interface Options extends GlobalOptions {
  readonly port?: string;
  readonly host?: string;
  readonly devLogin?: boolean;
  readonly seed?: string;
  readonly speed?: string;
}

const HOST = 'where it listens (default: for this machine alone, 127.0.0.1)';

export const processes: Register = (program, cli) => {
  program
    .command('worker')
    .description('run a worker; add more to go faster')
    .addHelpText('after', examples('conveyor worker', 'conveyor worker --address temporal.internal:7233'))
    .action(cli.handle<Options>((call) => run(call, 'workers/main.js', [])));
  program
    .command('server')
    .description('run the HTTP front end')
    .option('--port <n>', 'port (default 4500)')
    .option('--host <address>', HOST)
    .option('--dev-login', 'believe whoever says who they are (conveyor login --as); for this machine alone')
    .addHelpText('after', examples('conveyor server', 'conveyor server --port 8080 --host 0.0.0.0'))
    .action(
      cli.handle<Options>((call) =>
        run(call, 'server/main.js', [...place(call), ...(call.options.devLogin ? ['--dev-login'] : [])]),
      ),
    );
  program
    .command('hcs')
    .description('run the Health Check Service')
    .option('--port <n>', 'port (default 4600)')
    .option('--host <address>', HOST)
    .addHelpText('after', examples('conveyor hcs', 'conveyor hcs --port 8081'))
    .action(cli.handle<Options>((call) => run(call, 'server/hcs/main.js', place(call))));
  program
    .command('simulator')
    .description('run the simulated world: Twine regions, fleet, metrics, build service')
    .option('--port <n>', 'port (default 4400)')
    .option('--seed <n>', 'seed of every random choice (default 1)')
    .option('--speed <x>', `how many times faster than real it runs (default ${SIMULATED_SPEED})`)
    .addHelpText('after', examples('conveyor simulator', 'conveyor simulator --seed 7 --speed 600'))
    .action(
      cli.handle<Options>((call) =>
        run(
          call,
          'simulator/main.js',
          flags({
            port: call.options.port,
            seed: call.options.seed,
            speed: call.options.speed ?? String(SIMULATED_SPEED),
          }),
        ),
      ),
    );
};

const place = ({ options: { port, host } }: Call<Options>): string[] => flags({ port, host });

const flags = (values: Readonly<Record<string, string | undefined>>): string[] =>
  Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));

function run({ io, connect }: Call<Options>, path: string, args: readonly string[]): Promise<never> {
  const env = {
    ...(connect.address ? { TEMPORAL_ADDRESS: connect.address } : {}),
    ...(connect.namespace ? { TEMPORAL_NAMESPACE: connect.namespace } : {}),
    ...(connect.taskQueue ? { CONVEYOR_TASK_QUEUE: connect.taskQueue } : {}),
  };
  return io.become({ path: entryPoint(path), args, env });
}
