import { dataSourceProtocol, type Series } from '../protocol/dataSource';
import { demand, demandEqual, demandRefusal, inspectValue, type ConformCheck } from './check';
import type { Conversation, Reachable } from './conversation';
import { MINUTE_MS } from '../../domain/milliseconds';

/** A data source under test that has samples of a metric, for two tasks of a unit. */
export interface DataSourceSubject extends Reachable {
  readonly metric: string;
  readonly unit: string;
  /** Identifiers as the fleet writes them on metrics. */
  readonly tasks: readonly [string, string];
  /** ms since the epoch: the source has samples in between. */
  readonly window: { readonly start: number; readonly end: number };
}

/** The tools of the cases of the suite. */
class Questions {
  constructor(
    readonly subject: DataSourceSubject,
    private readonly talk: Conversation,
  ) {}

  async query(tasks: readonly string[], window = this.subject.window): Promise<Series[]> {
    const { metric, unit } = this.subject;
    const request = { metric, selector: { unit, tasks: [...tasks] }, ...window, step: MINUTE_MS };
    const context = {
      pipeline: 'kvstore',
      release: 12,
      deployId: 'deploy/kvstore/12/deploy/1',
      actor: 'user:alice',
      config: {},
    };
    return (await this.talk.ask({ protocol: dataSourceProtocol, method: 'query', request, context })).series;
  }

  post = (body: string) => this.talk.post('query', body);
  elsewhere = () => this.talk.post('noSuchMethod', '{}');

  empty = () => this.talk.ask({ protocol: dataSourceProtocol, method: 'query', request: {} as never, context: null });
}

const dataSourceCheck = (
  title: string,
  advice: string,
  story: (questions: Questions) => Promise<void>,
): ConformCheck<DataSourceSubject> => ({
  ...{ title, method: 'query', advice },
  run: (subject, talk) => story(new Questions(subject, talk)),
});

const getTaskLabel = ({ labels }: Series): string => labels['task'] ?? '';

/** The obligations of every data source. */
export const DATA_SOURCE_CHECKS: readonly ConformCheck<DataSourceSubject>[] = [
  dataSourceCheck(
    'answers one series for each task that it was asked about, with its identifier as the label task',
    'one series a task, labels.task as in selector.tasks; aggregate whatever else tells series apart',
    async (questions) => {
      const { tasks } = questions.subject;
      const series = await questions.query(tasks);
      demandEqual(series.map(getTaskLabel).sort(), [...tasks].sort(), 'labels.task of the series');
      const silent = series.filter(({ points }) => points.length === 0).map(getTaskLabel);
      demand(silent.length === 0, `no points for ${inspectValue(silent)}, expected samples between start and end`);
    },
  ),
  dataSourceCheck(
    'says nothing of a task that it was not asked about',
    'filter by selector.tasks: a series of another task would mix the old version with the new one',
    async (questions) => {
      const [task] = questions.subject.tasks;
      const strangers = (await questions.query([task]))
        .map(getTaskLabel)
        .filter((name) => name !== task && name !== '');
      demandEqual(strangers, [], `the other tasks in the answer about ${task} alone`);
    },
  ),
  dataSourceCheck(
    'has every point inside the window, in the order of time',
    'answer [ms, value] with start <= ms <= end, the oldest first',
    async (questions) => {
      const { tasks, window } = questions.subject;
      for (const { labels, points } of await questions.query(tasks)) {
        const times = points.map(([at]) => at);
        const outside = times.filter((at) => at < window.start || at > window.end);
        demandEqual(outside, [], `times of ${inspectValue(labels)} outside ${window.start} to ${window.end}`);
        demandEqual(
          times,
          [...times].sort((a, b) => a - b),
          `the times of ${inspectValue(labels)}`,
        );
      }
    },
  ),
  dataSourceCheck(
    'missing measurements are not an error: an unknown task has no points',
    'answer 200 with no series, or one without points: an error would make the check errored, and silence is judged elsewhere',
    async (questions) => {
      const series = await questions.query(['conveyor-conform-no-such-task']);
      demandEqual(
        series.flatMap(({ points }) => points),
        [],
        'the points of a task that does not exist',
      );
    },
  ),
  dataSourceCheck(
    'makes nothing up: a window without samples has no points',
    'leave gaps as they are; do not fill them with zeros or with the last value',
    async (questions) => {
      const series = await questions.query(questions.subject.tasks, { start: MINUTE_MS, end: 2 * MINUTE_MS });
      demandEqual(
        series.flatMap(({ points }) => points),
        [],
        'the points of a minute in 1970',
      );
    },
  ),
  dataSourceCheck(
    'answers the same question about the past in the same way',
    'a window that is over does not change',
    async (questions) => {
      const { tasks } = questions.subject;
      const inOrder = (series: Series[]) =>
        [...series].sort((one, other) => getTaskLabel(one).localeCompare(getTaskLabel(other)));
      const first = inOrder(await questions.query(tasks));
      demandEqual(inOrder(await questions.query(tasks)), first, 'the second answer');
    },
  ),
  dataSourceCheck(
    'what is no question is refused',
    'answer 400 for what cannot be read or lacks a field, and 404 for a path that is not a method',
    async (questions) => {
      demandEqual(await questions.post('{'), 400, 'the status for the body {');
      demandEqual(await questions.elsewhere(), 404, 'the status for the method noSuchMethod');
      await demandRefusal(questions.empty(), 'query without any field');
    },
  ),
];
