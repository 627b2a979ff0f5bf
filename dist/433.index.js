const id=433,ids=[433],modules={9433:((__unused_webpack___webpack_module__,__webpack_exports__,__webpack_require__)=>{__webpack_require__.r(__webpack_exports__),__webpack_require__.d(__webpack_exports__,{SCHEMA_FILE:()=>SCHEMA_FILE,WORKFLOW_FILE:()=>WORKFLOW_FILE,runInit:()=>runInit});var node_fs__WEBPACK_IMPORTED_MODULE_0__=__webpack_require__(3024),node_path__WEBPACK_IMPORTED_MODULE_1__=__webpack_require__(6760),_config_inputs_js__WEBPACK_IMPORTED_MODULE_2__=__webpack_require__(507),_contract_presets_js__WEBPACK_IMPORTED_MODULE_3__=__webpack_require__(959),_errors_js__WEBPACK_IMPORTED_MODULE_4__=__webpack_require__(7406),_providers_registry_js__WEBPACK_IMPORTED_MODULE_5__=__webpack_require__(9581),_text_limits_js__WEBPACK_IMPORTED_MODULE_6__=__webpack_require__(6473),_text_messages_js__WEBPACK_IMPORTED_MODULE_7__=__webpack_require__(7657),_flags_js__WEBPACK_IMPORTED_MODULE_8__=__webpack_require__(5739);function runInit(argv,io){return(0,_flags_js__WEBPACK_IMPORTED_MODULE_8__.d1)(COMMAND,argv,io,async flags=>{const plan=readPlan(flags),files=new Map([[WORKFLOW_FILE,workflowText(plan)]]);return plan.preset===null&&files.set(SCHEMA_FILE,`${JSON.stringify(OWN_SCHEMA,null,2)}
`),writeAll(io.cwd,files,flags.has("force")),io.stdout.write(nextSteps(plan,[...files.keys()])),0})}const WORKFLOW_FILE=".github/workflows/structured-agent.yml",SCHEMA_FILE=".github/verdict.schema.json",OWN_SCHEMA={$schema:"http://json-schema.org/draft-07/schema#",type:"object",required:["passed","summary"],additionalProperties:!1,properties:{passed:{type:"boolean",description:"Whether the change is safe to merge."},summary:{type:"string",description:"The verdict in a few sentences."}}},PLACEHOLDER="org/structured-agent@v1";function readPlan(flags){const[stray]=flags.positionals;if(stray!==void 0)throw new _errors_js__WEBPACK_IMPORTED_MODULE_4__.dz(null,`structured-agent init takes no ${(0,_text_messages_js__WEBPACK_IMPORTED_MODULE_7__.hD)(stray,_text_limits_js__WEBPACK_IMPORTED_MODULE_6__.Nu.name)}. Take it out.`);const preset=flags.value("preset");if(preset!==null&&flags.has("schema"))throw new _errors_js__WEBPACK_IMPORTED_MODULE_4__.dz("schema","--preset is given too. Keep one of them.");const names=[..._contract_presets_js__WEBPACK_IMPORTED_MODULE_3__.v4.keys()];if(preset!==null&&!names.includes(preset)){const fix=(0,_flags_js__WEBPACK_IMPORTED_MODULE_8__.au)(preset,names,`Use ${(0,_text_messages_js__WEBPACK_IMPORTED_MODULE_7__.uy)(names)}.`);throw new _errors_js__WEBPACK_IMPORTED_MODULE_4__.dz("preset",`${(0,_text_messages_js__WEBPACK_IMPORTED_MODULE_7__.hD)(preset,_text_limits_js__WEBPACK_IMPORTED_MODULE_6__.Nu.name)} is not a preset. ${fix}`)}const action=flags.value("action")??PLACEHOLDER;if(!/^(?:\.{1,2}\/[\w./-]*|[\w-]+(?:\/[\w.-]+)+@[\w./-]+)$/u.test(action))throw new _errors_js__WEBPACK_IMPORTED_MODULE_4__.dz("action",`${(0,_text_messages_js__WEBPACK_IMPORTED_MODULE_7__.hD)(action,_text_limits_js__WEBPACK_IMPORTED_MODULE_6__.Nu.name)} does not name an action. Write OWNER/REPOSITORY@COMMIT, or ./FOLDER for one in the checkout.`);return{preset:flags.has("schema")?null:preset??_contract_presets_js__WEBPACK_IMPORTED_MODULE_3__.FS,model:flags.value("model")??_config_inputs_js__WEBPACK_IMPORTED_MODULE_2__.ro,action}}const PROMPTS={verdict:"Run the test suite and review this change. Is it safe to merge?","code-review":`Review this change. Read the whole diff, and of the code around it what you need to judge it.
Look for defects that the change brings, and run the tests that touch it. Leave out matters of taste.`,"security-review":`Look for vulnerabilities in what this change brings: follow what an outsider controls to where it is used.
Report what an attacker can use, not what merely looks unusual.`,"test-report":`Run the test suite of this repository as its documents say. For each test that fails, read the test and the
code that it tests, and say what the likely cause is. Do not fix anything.`};function workflowText({preset,model,action}){const provider=(0,_providers_registry_js__WEBPACK_IMPORTED_MODULE_5__.ou)(model),key=provider===null?"MODEL_API_KEY":_providers_registry_js__WEBPACK_IMPORTED_MODULE_5__.u5[provider].keyVariable,isPinned=action.startsWith(".")||/@[0-9a-f]{40}$/u.test(action),parts={action:[`${action}${isPinned?"":" # name it by its commit"}`],prompt:(PROMPTS[preset??"verdict"]??"").split(`
`),schema:preset===null?[`schema: ./${SCHEMA_FILE}`,"gate: passed"]:[`schema: ${preset}`],model:[`model: ${/^[a-z][\w.-]+$/iu.test(model)?model:JSON.stringify(model)}`,...provider===null?["base-url: ${{ vars.MODEL_BASE_URL }}"]:[],`api-key: \${{ secrets.${key} }}`]};return`# Written by \`structured-agent init\`, yours to change; \`structured-agent check\` says whether it still holds.
# A pull request from a fork gets no secrets and ends red (52). Do not skip the job for it: skipped counts as passed.
name: Structured agent
on: pull_request
permissions:
  contents: read
  pull-requests: read # for title, files and diff, if the repository is private
concurrency:
  group: structured-agent-\${{ github.event.pull_request.number }}
  cancel-in-progress: true
jobs:
  verdict:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
      # Before the agent comes what the tests need, for example \`run: npm ci\`: its shell has no network.
      - id: verdict
        uses: <action>
        with:
          prompt: |
            <prompt>
          <schema>
          <model>
          max-total-tokens: 1000000
      - name: Say what is in the way
        # Without !cancelled() it would not run after a red step. Compare with ==: without a verdict the output is empty.
        if: \${{ !cancelled() && steps.verdict.outputs.passed == 'false' }}
        # Text of a model goes into a script through env, never through an expression.
        env:
          SUMMARY: \${{ steps.verdict.outputs.summary }}
        run: printf '%s\\n' "$SUMMARY"
`.replace(/^(.*?)<(action|prompt|schema|model)>$/gmu,(_,before,name)=>(parts[name]??[]).map(line=>`${before}${line}`).join(`
`))}function writeAll(folder,files,force){const names=[...files.keys()],taken=names.find(name=>(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)(node_path__WEBPACK_IMPORTED_MODULE_1__.join(folder,name)));if(taken!==void 0&&!force)throw new _errors_js__WEBPACK_IMPORTED_MODULE_4__.dz(null,`${taken} is there already, and nothing was written. Add --force to replace it.`);const draftOf=name=>node_path__WEBPACK_IMPORTED_MODULE_1__.join(folder,`${name}.${process.pid}`);let current="";try{for(current of names)(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.mkdirSync)(node_path__WEBPACK_IMPORTED_MODULE_1__.join(folder,node_path__WEBPACK_IMPORTED_MODULE_1__.dirname(current)),{recursive:!0}),(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.writeFileSync)(draftOf(current),files.get(current)??"",{flag:"wx"});for(current of names.toReversed())(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.renameSync)(draftOf(current),node_path__WEBPACK_IMPORTED_MODULE_1__.join(folder,current))}catch(error){for(const draft of names.map(draftOf).filter(node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync))(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.rmSync)(draft);throw(0,_errors_js__WEBPACK_IMPORTED_MODULE_4__.CA)(error)===null?error:new _errors_js__WEBPACK_IMPORTED_MODULE_4__.dz(null,`${current} cannot be written: ${(0,_errors_js__WEBPACK_IMPORTED_MODULE_4__.bD)(error)}.`)}}function nextSteps({model,action},files){const provider=(0,_providers_registry_js__WEBPACK_IMPORTED_MODULE_5__.ou)(model),[name=""]=action.split("@"),isKnown=action.startsWith(".")||/\/structured-agent$/iu.test(name),numbered=[...action===PLACEHOLDER?[`Replace ${action}: org/ is a placeholder until the first release.`]:[],provider===null?"Set the URL of your server: gh variable set MODEL_BASE_URL (and a key: gh secret set MODEL_API_KEY)":`Store the provider's key as a secret: gh secret set ${_providers_registry_js__WEBPACK_IMPORTED_MODULE_5__.u5[provider].keyVariable}`,"Add to the workflow what your tests need before the agent.",`Run: structured-agent check${isKnown?"":` --action ${name}`}`,'Commit, and make the check "verdict" a required one, so that it decides what may be merged.'].map((step,at)=>`  ${at+1}. ${step}
`).join("");return`Written: ${files.join(", ")}

Next:
${numbered}`}const COMMAND={name:"init",flags:{preset:"text",model:"text",action:"text",schema:"boolean",force:"boolean"},help:`Usage: structured-agent init [flags]

Writes .github/workflows/structured-agent.yml, which judges pull requests by a preset.

  --preset PRESET  verdict (default), code-review, security-review or test-report.
  --schema         Write .github/verdict.schema.json, yours to change, and use it in place of a preset.
  --model MODEL    The model to ask. Default: ${_config_inputs_js__WEBPACK_IMPORTED_MODULE_2__.ro}. One of an unknown name is
                   looked for at the URL in the variable MODEL_BASE_URL of the repository.
  --action ACTION  What the step uses, as OWNER/REPOSITORY@COMMIT or ./FOLDER.
  --force          Replace files that are there already.
  -h, --help       This text.

Exit code: 0 if all files were written; 52 if none was.
`}})};export{id,ids,modules};
