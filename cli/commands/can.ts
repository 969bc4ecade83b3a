import { decideApply, decideVerb, type Asking } from '../../client/about';
import { decideBirth } from '../../domain/access/children';
import { allowedBy, type Decision } from '../../domain/access/decision';
import { isOperation, NEEDS, OPERATIONS, type OperationName } from '../../domain/access/operations';
import { USE_KINDS, type PlatformFacts } from '../../domain/access/platform';
import { decideDeploy, decideScripts, decideUse } from '../../domain/access/usage';
import { conveyorError } from '../../domain/errors';
import { NAME, parseId } from '../../domain/ids';
import { PRINCIPAL } from '../../domain/principals';
import { EXIT } from '../exit';
import { withClient } from '../io';
import { emit } from '../output';
import { readPipelineFile } from '../pipelineFile';
import { paint } from '../render/paint';
import { examples, type Call, type Register } from './command';

interface Options {
  readonly file?: string;
}

/** As typed. */
interface Question {
  readonly who: string;
  readonly verb: string;
  readonly what: string;
}

export const can: Register = (program, cli) => {
  program
    .command('can <who> <verb> [what]')
    .description('whether somebody may do something, by which rule, and if not, who may')
    .option('--file <file>', 'a pipeline file: of create and apply, what would be applied')
    .addHelpText(
      'after',
      examples(
        'conveyor can user:alice cancel kvstore/12/deploy',
        'conveyor can user:alice create --file pipeline.yaml',
        'conveyor can group:storage deploy twine/kvstore-x     whether pipelines of theirs may',
        'conveyor can group:storage use mutex/region-x         or action-service, artifact-finder, data-source',
        'conveyor can group:storage run-scripts',
        'conveyor can release-train start-child kvstore        whether that pipeline may',
      ),
    )
    .action(
      cli.handle<Options, [string, string, string | undefined]>(async (call, who, verb, what = '') => {
        const { io, output } = call;
        // Only here: the other commands begin without it.
        const { loadRegistry } = await import('../../sdk/registry');
        const registry = loadRegistry(undefined, io.env);
        const decision = await answer(call, registry, { who, verb, what });
        const by = decision.allowed ? decision.by : null;
        const through = decision.allowed ? decision.through : null;
        const { allowed, why } = decision;
        const value = { who, verb, what: what === '' ? null : what, allowed, by, through, why, file: registry.file };
        emit(io, output, value, {
          text: ({ color }) => {
            const colors = paint(color);
            if (!allowed) return `${colors.red('no')}: ${why}`;
            return `${colors.green('yes')}: ${why}\n  by ${by}${through === null ? '' : `, through ${through}`} (${registry.file})`;
          },
          name: [allowed ? 'yes' : 'no'],
        });
        return allowed ? EXIT.ok : EXIT.notFound;
      }),
    );
};

function answer(call: Call<Options>, facts: PlatformFacts, question: Question): Promise<Decision> {
  const { verb } = question;
  if (!isOperation(verb))
    throw conveyorError('usage', { text: `there is no ${verb}`, hint: `one of ${Object.keys(OPERATIONS).join(', ')}` });
  const { needs } = OPERATIONS[verb];
  if (needs === 'nobody' || needs === 'key' || needs === 'delivery')
    return Promise.resolve(allowedBy(needs, `${verb} is for ${NEEDS[needs]}`));
  if (needs === 'parent') return ofParent(call, facts, question);
  if (!PRINCIPAL.test(question.who))
    throw conveyorError('usage', { text: `${question.who} is not a principal`, hint: 'name one such as user:alice' });
  if (needs === 'service' || needs === 'use' || needs === 'scripts') return Promise.resolve(ofUse(facts, question));
  if (verb === 'create' || verb === 'apply' || verb === 'import') return ofApply(call, facts, { ...question, verb });
  return ofVerb(call, facts, { ...question, verb });
}

/** What pipelines of an owner may use: `twine/kvstore-x`, `mutex/region-x`. */
function ofUse(facts: PlatformFacts, { who, verb, what }: Question): Decision {
  const owners = [who];
  if (verb === 'run-scripts') return decideScripts(facts, owners);
  const at = what.indexOf('/');
  const [kind, name] = [what.slice(0, Math.max(at, 0)), what.slice(at + 1)];
  if (verb === 'deploy' && kind !== '') return decideDeploy(facts, owners, { pushType: kind, units: [name] });
  const use = USE_KINDS.find((one) => one === kind);
  if (verb === 'use' && use !== undefined && NAME.test(name)) return decideUse(facts, owners, { kind: use, name });
  const hint =
    verb === 'deploy'
      ? 'name a unit, such as twine/kvstore-x'
      : `name one such as mutex/region-x: ${USE_KINDS.join(', ')}`;
  throw conveyorError('usage', { text: `${what || 'nothing'} is not what ${verb} takes`, hint });
}

const asked = <T>({ io, connect }: Call<Options>, ask: (client: Asking) => Promise<T>): Promise<T> =>
  withClient(io, connect, ask);

async function ofApply(
  call: Call<Options>,
  facts: PlatformFacts,
  { who, what, verb }: Question & { verb: 'create' | 'apply' | 'import' },
): Promise<Decision> {
  const { file } = call.options;
  const spec = file === undefined ? null : (await readPipelineFile(file, call.io.now())).spec;
  if (file !== undefined && spec === null) throw conveyorError('invalid-file', { file, problems: 1 });
  const principal = { principal: who, door: 'command-line' } as const;
  return asked(call, async (client) => {
    const would = spec ?? (await client.spec(pipelineIn(what)));
    return decideApply(client, facts, { who: principal, verb: verb === 'import' ? 'import' : 'apply', spec: would });
  });
}

function pipelineIn(what: string): string {
  const id = parseId(what);
  if (id?.kind === 'pipeline') return id.pipeline;
  throw conveyorError('invalid-id', {
    text: what || 'nothing',
    expected: 'the name of a pipeline; or give its --file',
  });
}

function ofVerb(
  call: Call<Options>,
  facts: PlatformFacts,
  { who, verb, what }: Question & { verb: OperationName },
): Promise<Decision> {
  const id = parseId(what);
  if (id === undefined)
    throw conveyorError('invalid-id', { text: what || 'nothing', expected: 'the id of a pipeline, release or deploy' });
  const principal = { principal: who, door: 'command-line' } as const;
  return asked(call, (client) => decideVerb(client, facts, { who: principal, verb, id }));
}

/** Whether a pipeline may start another; who starts the parent is not known yet. */
function ofParent(call: Call<Options>, facts: PlatformFacts, { who, what }: Question): Promise<Decision> {
  return asked(call, async (client) => {
    const { pipeline: child, owners, labels } = await client.spec(pipelineIn(what));
    return decideBirth(facts, {
      child,
      owners,
      names: labels['parent'],
      parent: pipelineIn(who),
      startedBy: undefined,
    });
  });
}
