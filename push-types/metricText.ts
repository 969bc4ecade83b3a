/** The text format of Prometheus, for the push types that show their fleet at `/metrics`. */

/** A metric with one value for each row; rows without a value are left out. */
export interface MetricFamily<Row> {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly read: (row: Row) => number | undefined;
}

export const METRIC_HEADERS = { 'content-type': 'text/plain; version=0.0.4' };

/** The lines of some metrics. */
export const listMetricLines = <Row>(
  families: readonly MetricFamily<Row>[],
  rows: readonly Row[],
  readLabels: (row: Row) => Readonly<Record<string, string>>,
): readonly string[] =>
  families.flatMap(({ name, help, type, read }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...rows.flatMap((row) => {
      const now = read(row);
      return now === undefined ? [] : [`${name}${writeMetricLabels(readLabels(row))} ${now}`];
    }),
  ]);

function writeMetricLabels(labels: Readonly<Record<string, string>>): string {
  const written = Object.entries(labels).map(
    ([key, value]) => `${key}="${value.replace(/[\\"]/g, '\\$&').replaceAll('\n', ' ')}"`,
  );
  return written.length === 0 ? '' : `{${written.join(',')}}`;
}
