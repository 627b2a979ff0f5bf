const id=225,ids=[225],modules={2225:((__unused_webpack___webpack_module__,__webpack_exports__,__webpack_require__)=>{__webpack_require__.r(__webpack_exports__),__webpack_require__.d(__webpack_exports__,{helpText:()=>helpText,usageText:()=>usageText});var _commands_flags_js__WEBPACK_IMPORTED_MODULE_0__=__webpack_require__(5739),_config_inputs_js__WEBPACK_IMPORTED_MODULE_1__=__webpack_require__(507),_providers_registry_js__WEBPACK_IMPORTED_MODULE_2__=__webpack_require__(9581),_text_messages_js__WEBPACK_IMPORTED_MODULE_3__=__webpack_require__(7657),_args_js__WEBPACK_IMPORTED_MODULE_4__=__webpack_require__(2711);const USAGE=`Usage: structured-agent [FLAGS] TASK
       structured-agent [FLAGS] -p TASK
       PROGRAM | structured-agent [FLAGS] [-p TASK]
       structured-agent COMMAND --help

Gives a task to an agent that can only answer in your JSON Schema, and tells by the exit code
whether its verdict passed. It works on the current folder; nothing is written unless asked.`,VARIABLES={[_text_messages_js__WEBPACK_IMPORTED_MODULE_3__.$9]:"The provider's key, whichever the provider is. Never on the command line.",[_providers_registry_js__WEBPACK_IMPORTED_MODULE_2__.xq.flatMap(name=>_providers_registry_js__WEBPACK_IMPORTED_MODULE_2__.u5[name].keyVariable??[]).join(", ")]:"Without it: the chosen provider's."},EXIT_CODES={0:"A verdict was given, and the gate is met.",1:"The gate is not met, or there is no verdict: plain text, a refusal, a failed provider.",44:"The sandbox is required and absent.",52:"The command line is invalid, incomplete or empty.",53:"The turns are used up.",55:"The time, the tokens or the money are used up.",130:"Stopped by a signal."};function usageText(){const example=`structured-agent --model ${_config_inputs_js__WEBPACK_IMPORTED_MODULE_1__.ro} "Run the tests. Did they pass?"`;return`${[USAGE,section("Commands",_args_js__WEBPACK_IMPORTED_MODULE_4__.Lo),`For example:
  ${example}`,"structured-agent --help lists every flag."].join(`

`)}
`}function helpText(){const flags=Object.entries(_args_js__WEBPACK_IMPORTED_MODULE_4__.Wg).map(([title,rows])=>section(title,Object.fromEntries(rows.map(describe)))),last=["A value follows a space or an equals sign. A list may be given several times.",section("Variables",VARIABLES),section("Exit codes",EXIT_CODES)];return`${[USAGE,section("Commands",_args_js__WEBPACK_IMPORTED_MODULE_4__.Lo),...flags,...last].join(`

`)}
`}function describe(flag){const given=[flag.kind==="list"?"a list":"",flag.default===""?"":`default: ${flag.default}`].filter(note=>note!=="").join("; ");return[`${(0,_commands_flags_js__WEBPACK_IMPORTED_MODULE_0__.cl)(flag).join(", ")} ${(0,_commands_flags_js__WEBPACK_IMPORTED_MODULE_0__.qf)(flag)}`.trim(),given===""?flag.description:`${flag.description} (${given})`]}function section(title,rows){const lines=Object.entries(rows).map(([left,right])=>left.length<10?`  ${left.padEnd(10)}${right}`:`  ${left}
      ${right}`);return[`${title}:`,...lines].join(`
`)}})};export{id,ids,modules};
