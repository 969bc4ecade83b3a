/** Figures of the papers that have a bench or a test of their own. */
export interface Cited {
  readonly what: string;
  readonly paper: string;
  readonly ours: string;
  readonly is: 'input' | 'outcome' | 'not measured';
  readonly from: string;
}

export const CITED: readonly Cited[] = [
  {
    what: 'FrontFaaS in a day (Conveyor §6.3, Figure 5)',
    paper: 'a release takes longer in peak hours; CPU stays below 75%',
    ours: '35 minutes at night, 127 at the peak; CPU at most 72.6%',
    is: 'outcome',
    from: '`bench/controllers.ts`, [picture](images/frontfaas-day.svg)',
  },
  {
    what: 'Executables that a bug reaches (Conveyor §6.3, Figure 6)',
    paper: '15% of reported bugs reach more than 10,000',
    ours: '5% of drawn libraries reach more than 1,046 programs, and 85% at most 84: people report bugs of what many use, which the draw does not copy',
    is: 'outcome',
    from: '`bench/bugs.ts`',
  },
  {
    what: 'Storage service of 20 phases (Conveyor §6.5.3)',
    paper: 'early phases on the first day, ends on the second; on the third after transient issues',
    ours: 'six early phases on Monday, ends on Tuesday at 16:35; on Wednesday at 10:05 after a region was down for 139 minutes',
    is: 'outcome',
    from: '`tests/workflows/storage.long.test.ts`, virtual time',
  },
  {
    what: 'Update of 15,000 shards while a switch board fails (Twine §5.1, Figure 14)',
    paper: '274 tasks at once, then 214; 1,292 shards with two replicas down, and none after the first batch',
    ours: '350 tasks at once, then 300; at most 2,143 shards with two replicas down',
    is: 'outcome',
    from: '`bench/controllers.ts`, [picture](images/twine-figure-14.svg)',
  },
  {
    what: 'A change until all hosts have it (Configerator §6.3)',
    paper: '14.5 s: 5 to commit, 5 until the tailer has it, 4.5 to all',
    ours: 'the same three times in the simulated tree, which are input; through git and a real etcd, 1,000 hosts on one machine have it after 1.6 s (p99 1.9 s)',
    is: 'outcome',
    from: '`bench/config.ts`',
  },
  {
    what: 'Deployments of services that depend on each other (µs, Figure 10)',
    paper: 'twice the time of one in parallel, whatever their number',
    ours: 'built, and `bench/offers.ts` measures the same shapes beside the same deploys without wishes; no run of a quiet machine is kept yet',
    is: 'not measured',
    from: '`bench/offers.ts`, [design](design/offers.md)',
  },
];
