import type { FactSource } from '../../client/about';
import type { ConveyorClient } from '../../client/api';
import { answerTo, type Question } from '../../client/can';
import { askAt } from '../../client/http/client';
import type { PermissionAnswer } from '../../client/operations/questions';
import { renderPermission } from '../../render/permission';
import { resolveDoor, enter, toHttpOptions } from '../door';
import { EXIT } from '../exit';
import { emit } from '../output';
import { requirePipelineFile } from '../pipelineFile';
import { examples, type CommandCall, type Register } from './command';

interface CanOptions {
  readonly file?: string;
}

export const canCommand: Register = (program, cli) => {
  program
    .command('can <who> <verb> [what]')
    .description('show whether a principal may do something, by which rule, and if not, who may')
    .option('--file <file>', 'with create and apply: the pipeline file to be applied')
    .addHelpText(
      'after',
      examples(
        'conveyor can user:alice cancel kvstore/12/deploy',
        'conveyor can user:alice create --file pipeline.yaml',
        'conveyor can group:storage deploy twine/kvstore-x     whether its pipelines may',
        'conveyor can group:storage use mutex/region-x         or action-service, artifact-finder, data-source',
        'conveyor can user:alice propose flags                 a change of that repository',
        'conveyor can group:storage run-scripts',
        'conveyor can release-train start-child kvstore        whether that pipeline may',
      ),
    )
    .action(
      cli.handle<CanOptions, [string, string, string | undefined]>(async (call, who, verb, what = '') => {
        const { io, output } = call;
        const asked = await decideQuestion(call, { who, verb, what, spec: await readSpecFile(call) });
        const { allowed, by, through, why, file, server } = asked;
        const value = { who, verb, what: what === '' ? null : what, allowed, by, through, why, file, server };
        const rules = file ?? `the configuration of ${server}`;
        emit(io, output, value, {
          text: (view) => renderPermission({ allowed, by, through, why, rules }, view),
          name: [allowed ? 'yes' : 'no'],
        });
        return allowed ? EXIT.ok : EXIT.notFound;
      }),
    );
};

/** The pipeline that the given file would apply. @throws ConveyorError `invalid-file` */
async function readSpecFile({ io, options: { file } }: CommandCall<CanOptions>): Promise<Question['spec']> {
  if (file === undefined) return undefined;
  return (await requirePipelineFile(file, io.now())).spec;
}

/** A decision with the source of its rules: the file on this machine, or a server. */
type SourcedDecision = PermissionAnswer & { readonly file: string | null; readonly server: string | null };

/** Commands through a server are subject to its rules, so the server also answers the question. */
async function decideQuestion({ io, connect }: CommandCall<CanOptions>, question: Question): Promise<SourcedDecision> {
  const door = resolveDoor(io.env, connect);
  if (door.kind === 'server')
    return { ...(await askAt(toHttpOptions(io, door)).whether(question)), file: null, server: door.url };
  // Loaded only here, so that other commands start faster.
  const { loadRegistry } = await import('../../settings/registry');
  const facts = loadRegistry(undefined, io.env);
  const { client, close } = createLazyClient({ io, connect });
  try {
    const decision = await answerTo(
      { client, facts, door: 'command-line', repositories: facts.configRepositories },
      question,
    );
    const { allowed, why } = decision;
    const { by, through } = decision.allowed ? decision : { by: null, through: null };
    return { allowed, by, through, why, file: facts.file, server: null };
  } finally {
    await close();
  }
}

/** Many questions need only the rules, so the client connects on its first use. */
function createLazyClient({ io, connect }: Pick<CommandCall<CanOptions>, 'io' | 'connect'>) {
  let opened: Promise<ConveyorClient> | undefined;
  const open = (): Promise<ConveyorClient> => (opened ??= enter(io, connect));
  const client: FactSource = {
    spec: async (pipeline) => (await open()).spec(pipeline),
    status: async (id) => (await open()).status(id),
    exportPipeline: async (pipeline) => (await open()).exportPipeline(pipeline),
    listPipelines: async (query) => (await open()).listPipelines(query),
  };
  const close = async (): Promise<void> => opened?.then((one) => one.close()).catch(() => undefined);
  return { client, close };
}
