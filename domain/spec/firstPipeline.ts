/**
 * The commented pipeline file that `conveyor init` writes. It has no lint findings, and its comments show what to
 * change.
 * @param schema the path or address of its JSON Schema for editors, relative to the file; null without one.
 */
export function firstPipeline(name: string, owner: string, schema: string | null = null): string {
  return `${schema === null ? '' : `# yaml-language-server: $schema=${schema}\n`}# A release of this pipeline builds a version and deploys it in phases. Try: conveyor lint, conveyor plan.
pipeline: ${name}
description: one line about this pipeline
owners: [${owner}] # who may command it; also group:… and service:…

# schedule: { mode: calendar, calendar: "0 10 * * 1-4", timezone: Europe/London } # when deploys may start; now: at any time

artifacts: # what a release starts from
  source:
    finder: manual # you name it: conveyor release ${name} --artifact source=VERSION
    # finder: commits # or each new commit by itself
    # with: { repository: ${name}, branch: main }

actions: # a graph: an action starts when those that produce its inputs, or that it needs, are done
  build:
    type: build
    inputs: [source]
    outputs: [executable]
    with: { target: "//${name}:server" }

  # approve: { type: manual-pick, needs: [build] } # a person lets it continue: conveyor pick ${name}/1 --approve

  deploy:
    type: deploy
    # needs: [approve]
    inputs: [executable]
    with:
      pushType: twine
      config: { jobs: [${name}] } # the jobs to update; in the simulated fleet: conveyor simulate job ${name}
      phases: # amounts add up; bakes are minutes here to try it: what runs for people bakes for hours
        - { name: first, scope: "*", amount: 3, bake: 1m }
        - { name: regions, forEach: region, amount: 100%, bake: 1m } # one region after the other
      completion: { bake: 1m } # a last phase with everything comes by itself
      healthInterval: 15s
      healthChecks: # of exactly the tasks that were updated
        - name: errors
          metric: rpc.error_ratio
          transform: [{ average: 1m }]
          threshold: { above: 0.05 }
          minSamples: 3
        - name: cpu
          metric: system.cpu
          transform: [{ average: 1m }]
          compare: control # the tasks that are not updated yet
          threshold: { increase: 20% }
          minSamples: 3
      onUnhealthy: revert # or pause
`;
}
