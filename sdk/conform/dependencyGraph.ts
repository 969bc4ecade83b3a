import { dependencyGraphProtocol, MAX_BUILT_TARGETS, type BuiltTarget } from '../protocol/dependencyGraph';
import { demand, demandEqual, demandRefusal, inspectValue, type ConformCheck } from './check';
import type { Conversation, Reachable } from './conversation';

/** A dependency graph under test. */
export interface DependencyGraphSubject extends Reachable {
  /** A target that others depend on, … */
  readonly target: string;
  /** … and one that depends on it, by at least one dependency. */
  readonly dependent: string;
  /** Three revisions, the oldest first; the dependent depends on the target at each of them. */
  readonly revisions: readonly [string, string, string];
}

/** The questions of the cases of the suite. */
class Questions {
  constructor(
    readonly subject: DependencyGraphSubject,
    private readonly talk: Conversation,
  ) {}

  async affected(
    among: readonly BuiltTarget[],
    { target = this.subject.target, from = this.subject.revisions[1], to = '', depth = 100 } = {},
  ) {
    const revisions = { from, ...(to === '' ? {} : { to }) };
    const { affected } = await this.talk.ask({
      ...{ protocol: dependencyGraphProtocol, method: 'getDependents' },
      request: { target, revisions, depth, among: [...among] },
      context: { pipeline: '', release: 0, deployId: 'bugs', actor: 'service:conveyor', config: {} },
    });
    return affected;
  }

  /** The dependent, as it was built at each of the revisions. */
  built(): readonly [BuiltTarget, BuiltTarget, BuiltTarget] {
    const at = (revision: string): BuiltTarget => ({ target: this.subject.dependent, revision });
    const [first, second, third] = this.subject.revisions;
    return [at(first), at(second), at(third)];
  }
}

const listAffectedRevisions = (affected: readonly BuiltTarget[]): string[] =>
  affected.map(({ revision }) => revision).sort();

const graphCheck = (
  title: string,
  advice: string,
  story: (questions: Questions) => Promise<void>,
): ConformCheck<DependencyGraphSubject> => ({
  ...{ title, method: 'getDependents', advice },
  run: (subject, talk) => story(new Questions(subject, talk)),
});

/** The obligations of every dependency graph. */
export const DEPENDENCY_GRAPH_CHECKS: readonly ConformCheck<DependencyGraphSubject>[] = [
  graphCheck(
    'names what was built at the first revision with the bug and later, and nothing from before',
    'compare revisions in the order of your history: `from` itself has the bug',
    async (questions) => {
      const [, second, third] = questions.subject.revisions;
      demandEqual(
        listAffectedRevisions(await questions.affected(questions.built())),
        [second, third].sort(),
        'the affected revisions',
      );
    },
  ),
  graphCheck(
    'does not name what was built at the revision with the fix',
    '`to` is the first revision without the bug',
    async (questions) => {
      const [, second, third] = questions.subject.revisions;
      const affected = await questions.affected(questions.built(), { to: third });
      demandEqual(listAffectedRevisions(affected), [second], 'the affected revisions');
    },
  ),
  graphCheck(
    'says by which chain of dependencies the bug reaches a target',
    'answer the built target first and the target with the bug last; `depth` counts the dependencies between them',
    async (questions) => {
      const { target, dependent } = questions.subject;
      const [found] = await questions.affected(questions.built().slice(1, 2));
      demand(found !== undefined, 'nothing is affected, expected the dependent');
      demandEqual([found?.path[0], found?.path.at(-1)], [dependent, target], 'the ends of the path');
      demandEqual(found?.path.length, (found?.depth ?? 0) + 1, 'the length of the path');
    },
  ),
  graphCheck(
    'goes no deeper than it is asked to',
    'a chain may have at most `depth` dependencies',
    async (questions) => {
      const [found] = await questions.affected(questions.built().slice(1, 2));
      const far = found?.depth ?? 0;
      demand(far >= 1, `the depth is ${inspectValue(far)}, expected at least 1 of a dependent`);
      const exact = await questions.affected(questions.built().slice(1, 2), { depth: far });
      demandEqual(exact.length, 1, 'what is affected within exactly that depth');
      if (far === 1) return;
      const short = await questions.affected(questions.built().slice(1, 2), { depth: far - 1 });
      demandEqual(short, [], 'what is affected within one less');
    },
  ),
  graphCheck(
    'counts a target among what contains it',
    'the target with the bug is itself affected, at depth 0',
    async (questions) => {
      const { target, revisions } = questions.subject;
      const affected = await questions.affected([{ target, revision: revisions[2] }]);
      demandEqual(affected, [{ target, revision: revisions[2], depth: 0, path: [target] }], 'what is affected');
    },
  ),
  graphCheck(
    'names nothing for an unknown target, and nothing that it was not asked about',
    'answer affected: [] for what you do not know; answer only entries of `among`',
    async (questions) => {
      const none = await questions.affected(questions.built(), { target: '//no/such:target' });
      demandEqual(none, [], 'what contains an unknown target');
      const strange = [{ target: '//no/such:target', revision: questions.subject.revisions[2] }];
      demandEqual(await questions.affected(strange), [], 'what is affected among unknown targets');
    },
  ),
  graphCheck(
    'refuses a revision that it does not know, and says which',
    'answer 400 for a `from` that is not a revision of yours, with a message that names it',
    async (questions) => {
      const { message } = await demandRefusal(
        questions.affected(questions.built(), { from: 'no-such-revision' }),
        'an unknown revision',
      );
      demand(
        message.includes('no-such-revision'),
        `the refusal says ${inspectValue(message)}, expected it to name no-such-revision`,
      );
    },
  ),
  graphCheck(
    `answers about ${MAX_BUILT_TARGETS} built targets with one call, and refuses one more`,
    `answer ${MAX_BUILT_TARGETS} within the timeout; answer 400 for more, naming the limit`,
    async (questions) => {
      const [, second] = questions.built();
      const many = Array.from({ length: MAX_BUILT_TARGETS - 1 }, (_, nth) => ({
        target: `//no/such:t${nth}`,
        revision: second.revision,
      }));
      demandEqual((await questions.affected([...many, second])).length, 1, 'the number of affected targets');
      const { message } = await demandRefusal(questions.affected([...many, second, second]), 'one more than the limit');
      const named = message.includes(String(MAX_BUILT_TARGETS));
      demand(named, `the refusal says ${inspectValue(message)}, expected it to name the limit of ${MAX_BUILT_TARGETS}`);
    },
  ),
];
